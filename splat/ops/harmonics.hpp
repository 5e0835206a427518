// Real spherical harmonics, written once for whatever can be added and multiplied: values of a graph, vectors of
// floats, vectors with their derivatives. Includes nothing, as files do that are compiled for one instruction level.
#pragma once

namespace rlx::splat {

inline constexpr int most_harmonics = 25;

/// Those of the orders 1 to `degree` at a unit vector, to b[1] and on; b[0], a constant, is the caller's. Signs
/// are those that are usual in splatting, of P.-P. Sloan, JCGT 2 (2013), without the Condon-Shortley phase of odd x and
/// y.
template <class T>
void spherical_harmonics(const T& x, const T& y, const T& z, int degree, T* b) {
  if (degree < 1) return;
  b[1] = -0.4886025119029199 * y;
  b[2] = 0.4886025119029199 * z;
  b[3] = -0.4886025119029199 * x;
  if (degree < 2) return;
  const T xx = x * x, yy = y * y, zz = z * z, xy = x * y, difference = xx - yy;
  b[4] = 1.0925484305920792 * xy;
  b[5] = -1.0925484305920792 * (y * z);
  b[6] = 0.31539156525252005 * (2.0 * zz - xx - yy);
  b[7] = -1.0925484305920792 * (x * z);
  b[8] = 0.5462742152960396 * difference;
  if (degree < 3) return;
  const T y3 = y * (3.0 * xx - yy), x3 = x * (xx - 3.0 * yy), four = 4.0 * zz - xx - yy;
  b[9] = -0.5900435899266435 * y3;
  b[10] = 2.890611442640554 * (xy * z);
  b[11] = -0.4570457994644658 * (y * four);
  b[12] = 0.3731763325901154 * (z * (2.0 * zz - 3.0 * xx - 3.0 * yy));
  b[13] = -0.4570457994644658 * (x * four);
  b[14] = 1.445305721320277 * (z * difference);
  b[15] = -0.5900435899266435 * x3;
  if (degree < 4) return;
  const T seven = 7.0 * zz - 1.0, seven3 = z * (7.0 * zz - 3.0);
  b[16] = 2.5033429417967046 * (xy * difference);
  b[17] = -1.7701307697799304 * (z * y3);
  b[18] = 0.9461746957575601 * (xy * seven);
  b[19] = -0.6690465435572892 * (y * seven3);
  b[20] = 0.10578554691520431 * (zz * (35.0 * zz - 30.0) + 3.0);
  b[21] = -0.6690465435572892 * (x * seven3);
  b[22] = 0.47308734787878004 * (difference * seven);
  b[23] = -1.7701307697799304 * (z * x3);
  b[24] = 0.6258357354491761 * (x * x3 - y * y3);
}

}  // namespace rlx::splat
