// Every kernel, in one unit.
#include "chains.cu"
#include "elementwise.cu"
#include "hash.cu"
#include "images.cu"
#include "matmul.cu"
#include "random.cu"
#include "reduce.cu"
#include "rows.cu"
