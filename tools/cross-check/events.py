"""Event files of TensorBoard, read without TensorFlow: the framing of TFRecord with its checksums, and
the fields of the protocol buffer `tensorflow.Event` that a scalar has.
"""

import struct


def crc32c_table():
	"""The table of CRC-32C (Castagnoli, reflected polynomial 82F63B78)."""
	table = []
	for byte in range(256):
		for _ in range(8):
			byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
		table.append(byte)
	return table


TABLE = crc32c_table()


def masked(content):
	"""The CRC-32C of bytes as TFRecord stores it: turned right by 15 bits, plus A282EAD8."""
	crc = 0xFFFFFFFF
	for byte in content:
		crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
	crc ^= 0xFFFFFFFF
	return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(content):
	"""The records of a file: length (8 bytes), its checksum, content, its checksum; little endian."""
	place = 0
	while place < len(content):
		length, checksum = struct.unpack_from("<QI", content, place)
		if checksum != masked(content[place : place + 8]):
			raise ValueError(f"the checksum of the length at byte {place} is wrong")
		record = content[place + 12 : place + 12 + length]
		place += 12 + length
		if struct.unpack_from("<I", content, place) != (masked(record),):
			raise ValueError(f"the checksum of the record before byte {place} is wrong")
		place += 4
		yield record


def varint(content, place):
	"""A whole number of 7 bits a byte, the lowest first; and the place after it."""
	value = shift = 0
	while True:
		byte = content[place]
		place += 1
		value |= (byte & 0x7F) << shift
		shift += 7
		if byte < 0x80:
			return value, place


def fields(content):
	"""Number and value of each field of a message: an integer, or bytes."""
	place = 0
	while place < len(content):
		key, place = varint(content, place)
		number, kind = key >> 3, key & 7
		if kind == 0:
			value, place = varint(content, place)
		else:
			length, place = varint(content, place) if kind == 2 else ({1: 8, 5: 4}[kind], place)
			value, place = content[place : place + length], place + length
		yield number, value


def scalars(content):
	"""The steps of an event file in order, each with a dict from tag to value."""
	version, *events = [dict(fields(record)) for record in records(content)]
	if version != {3: b"brain.Event:2"}:
		raise ValueError(f"the file begins with {version}")
	found = []
	for event in events:
		values = [dict(fields(value)) for number, value in fields(event[5]) if number == 1]
		numbers = {value[1].decode(): struct.unpack("<f", value[2])[0] for value in values}
		found.append((event.get(2, 0), numbers))
	return found
