"""Money in integers: it moves, and none is made or lost."""


class Broke(Exception):
    """An account has less than it is to pay."""


class Ledger:
    def __init__(self):
        self.of = {}
        self.put_in = 0

    def open(self, account, amount=0):
        """Opens an account; all money there ever is comes in here."""
        assert account not in self.of and isinstance(amount, int) and amount >= 0, (account, amount)
        self.of[account] = amount
        self.put_in += amount

    def has(self, account, amount):
        return self.of[account] >= amount

    def move(self, source, to, amount):
        """Moves an amount, or raises `Broke`."""
        assert isinstance(amount, int) and amount >= 0, amount
        assert source in self.of and to in self.of, (source, to)
        if self.of[source] < amount:
            raise Broke(f"{source} has {self.of[source]} and is to pay {amount}")
        self.of[source] -= amount
        self.of[to] += amount

    def check(self):
        """Asserts that what is there is what came in."""
        assert sum(self.of.values()) == self.put_in, (sum(self.of.values()), self.put_in)
        assert all(amount >= 0 for amount in self.of.values())
