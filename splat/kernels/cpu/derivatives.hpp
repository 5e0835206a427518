// Vectors of floats as numbers of formulas, alone and with their derivatives by three variables. As lanes.hpp, for
// files of one instruction level, and so in an unnamed namespace.
#pragma once
#include "lanes.hpp"

namespace {

struct Real {
  Floats v;
};
inline Real operator+(Real a, Real b) { return {a.v + b.v}; }
inline Real operator-(Real a, Real b) { return {a.v - b.v}; }
inline Real operator*(Real a, Real b) { return {a.v * b.v}; }
inline Real operator*(double s, Real a) { return {static_cast<float>(s) * a.v}; }
inline Real operator+(Real a, double s) { return {a.v + static_cast<float>(s)}; }
inline Real operator-(Real a, double s) { return {a.v - static_cast<float>(s)}; }

/// A value and its derivatives by x, y and z.
struct Dual {
  Floats v, x, y, z;
};
inline Dual operator+(const Dual& a, const Dual& b) { return {a.v + b.v, a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Dual operator-(const Dual& a, const Dual& b) { return {a.v - b.v, a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Dual operator*(const Dual& a, const Dual& b) {
  return {a.v * b.v, fma(a.v, b.x, a.x * b.v), fma(a.v, b.y, a.y * b.v), fma(a.v, b.z, a.z * b.v)};
}
inline Dual operator*(double s, const Dual& a) {
  const auto f = static_cast<float>(s);
  return {f * a.v, f * a.x, f * a.y, f * a.z};
}
inline Dual operator+(const Dual& a, double s) { return {a.v + static_cast<float>(s), a.x, a.y, a.z}; }
inline Dual operator-(const Dual& a, double s) { return {a.v - static_cast<float>(s), a.x, a.y, a.z}; }

}  // namespace
