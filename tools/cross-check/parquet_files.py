#!/usr/bin/env python3
"""Writes the Parquet files in ml-worker/proof/tests/files with pyarrow, which shares no code with the reader of
the worker: the numbers of numpy.csv there, as writers write them in different versions, encodings and compressions,
and files that must be refused. Run it again only to add a file: the bytes depend on the version of pyarrow (26.0.1).

	parquet_files.py FOLDER
"""

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = np.arange(12)
COLUMNS = [ROWS, ROWS % 5, 100 - ROWS, ROWS * ROWS]
LABELS = ROWS * 7 % 3


def table(types, label_at=4, nullable=True):
	"""The numbers as columns of these types, the label at this place."""
	columns = list(COLUMNS)
	columns.insert(label_at, LABELS)
	names = [f"c{n}" for n in range(5)]
	names[label_at] = "label"
	fields = [pa.field(name, kind, nullable=nullable) for name, kind in zip(names, types)]
	arrays = [pa.array(column.tolist(), type=kind) for column, kind in zip(columns, types)]
	return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def main(folder):
	"""Writes all files."""

	def write(name, data, **how):
		pq.write_table(data, os.path.join(folder, name), **{"store_schema": False} | how)

	mixed = [pa.float64(), pa.int8(), pa.uint16(), pa.float32(), pa.int64()]
	# As pandas and pyarrow write by default: optional columns, dictionaries, Snappy.
	write("default.parquet", table(mixed), store_schema=True)
	write("groups-zstd-v2.parquet", table(mixed), compression="zstd", data_page_version="2.0", row_group_size=5)
	required = table([pa.uint8(), pa.int16(), pa.uint32(), pa.uint64(), pa.uint8()], nullable=False)
	write("plain-gzip.parquet", required, compression="gzip", use_dictionary=False)
	deltas = {f"c{n}": "DELTA_BINARY_PACKED" for n in (1, 2)} | {"c0": "BYTE_STREAM_SPLIT", "c3": "BYTE_STREAM_SPLIT"}
	deltas["label"] = "DELTA_BINARY_PACKED"
	for version in ("1.0", "2.0"):
		how = {"use_dictionary": False, "column_encoding": deltas, "compression": "none"}
		write(f"deltas-v{version[0]}.parquet", table([pa.float64(), pa.int32(), pa.int64(), pa.float32(), pa.int64()]),
			data_page_version=version, **how)
	first = [pa.int32(), pa.float32(), pa.float32(), pa.float64(), pa.int64()]
	write("label-first.parquet", table(first, label_at=0), compression="none", max_rows_per_page=4)

	# What must be refused, and why.
	def refused(name, column, label=(0, 1, 2)):
		write(f"refused-{name}.parquet", pa.table({"x": column, "label": pa.array(list(label))}))

	refused("null", pa.array([1.0, None, 3.0]))
	refused("text", pa.array(["a", "b", "c"]))
	refused("list", pa.array([[1.0], [2.0], [3.0]]))
	refused("struct", pa.array([{"a": 1.0}] * 3))
	refused("boolean", pa.array([True, False, True]))
	refused("date", pa.array([1, 2, 3], type=pa.date32()))
	refused("half", pa.array(np.array([1, 2, 3], dtype=np.float16)))
	refused("decimal", pa.array([1, 2, 3], type=pa.decimal128(9, 2)))
	refused("nan", pa.array([1.0, 2.0, float("nan")]))
	refused("label", pa.array([1.0, 2.0, 3.0]), label=(0.0, 1.0, 1.5))
	lz4 = pa.table({"x": pa.array([1.0, 2.0, 3.0]), "label": pa.array([0, 1, 2])})
	write("refused-lz4.parquet", lz4, compression="lz4")


main(*sys.argv[1:])
