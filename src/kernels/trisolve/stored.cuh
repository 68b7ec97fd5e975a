/* stored.cuh: how records hold the entries of a row, and the coefficient that a kernel makes of one.
 *
 * Records of a matrix of doubles hold a_ij / a_ii.  Those of a matrix of floats hold a_ij itself, in half of the bytes,
 * and a kernel multiplies it by the reciprocal of the diagonal, which is a double in both: the coefficient has the bits
 * that it would have if the matrix were doubles.  Two NaNs stand for what is no entry of the matrix. */
#ifndef GIK_STORED_CUH
#define GIK_STORED_CUH

namespace gik
{

/* In records of floats: a part of the row, whose sum is scaled already; no entry. */
enum : unsigned { STORED_MARK = 0x7fb5c000, STORED_PART = STORED_MARK | 1, STORED_NOTHING = STORED_MARK | 2 };

/* T: type of the vectors; inverse: of the diagonal. */
template <typename T> __device__ __forceinline__ T coefficient(double a, double inverse)
{
  return (T)a;
}
template <typename T> __device__ __forceinline__ T coefficient(float a, double inverse)
{
  const unsigned what = __float_as_uint(a) - STORED_MARK;
  return what - 1 < 2 ? (T)((int)what - 2) : (T)((double)a * inverse);
}

/* An entry, a part of the row, and nothing, as records of S hold them; scaled: a_ij / a_ii. */
template <typename S> struct stored;
template <> struct stored<double> {
  static __device__ __forceinline__ double entry(double, double scaled) { return scaled; }
  static __device__ __forceinline__ double part() { return -1; }
  static __device__ __forceinline__ double nothing() { return 0; }
};
template <> struct stored<float> {
  static __device__ __forceinline__ float entry(double a, double)
  {
    return a == a ? (float)a : __uint_as_float(0x7fc00000);
  }
  static __device__ __forceinline__ float part() { return __uint_as_float(STORED_PART); }
  static __device__ __forceinline__ float nothing() { return __uint_as_float(STORED_NOTHING); }
};

} /* namespace gik */

#endif
