// Every kernel, in one unit.
#include "elementwise.cu"
#include "images.cu"
#include "matmul.cu"
#include "random.cu"
#include "reduce.cu"
#include "rows.cu"
