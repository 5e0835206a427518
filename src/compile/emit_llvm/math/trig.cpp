// Reduction by multiples of pi / 2, and the two kernels.
//
// Up to a bound, Cody and Waite's three constants with fma: n * high is a multiple of the last bit of high and the
// difference to x is below 1, so the first step is exact. Beyond it, lane by lane, Payne and Hanek (Radian reduction
// for trigonometric functions, SIGNUM 18, 1983): the product of the mantissa with those bits of 2 / pi that matter
// modulo 4.
#include "compile/emit_llvm/math/parts.hpp"

#include <array>
#include <string>

namespace rlx::emit_llvm::math {

namespace {

/// Bits of 2 / pi after the binary point, after 64 zeros so that no exponent asks for bits before it.
constexpr std::uint64_t two_over_pi[] = {0,
                                         0xa2f9836e4e441529,
                                         0xfc2757d1f534ddc0,
                                         0xdb6295993c439041,
                                         0xfe5163abdebbc561,
                                         0xb7246e3a424dd2e0,
                                         0x06492eea09d1921c,
                                         0xfe1deb1cb129a73e,
                                         0xe88235f52ebb4484,
                                         0xe99c7026b45f7e41,
                                         0x3991d639835339f4,
                                         0x9c845f8bbdf9283b,
                                         0x1ff897ffde05980f,
                                         0xef2f118b5a0a6d1f,
                                         0x6d367ecf27cb09b7,
                                         0x4f463f669e5fea2d,
                                         0x7527bac7ebe5f17b,
                                         0x3d0739f78a5292ea,
                                         0x6bfb5fb11f8d5d08,
                                         0x56033046fc7b6bab,
                                         0xf0cfbc209af4361d};
constexpr int words = sizeof two_over_pi / sizeof two_over_pi[0];

LLVMValueRef table(Ir& ir) {
  constexpr const char* symbol = "rlx.two_over_pi";
  if (LLVMValueRef known = LLVMGetNamedGlobal(ir.m, symbol)) return known;
  LLVMValueRef all[words];
  for (int i = 0; i < words; ++i) all[i] = LLVMConstInt(ir.i64, two_over_pi[i], 0);
  const LLVMValueRef g = LLVMAddGlobal(ir.m, LLVMArrayType2(ir.i64, words), symbol);
  LLVMSetInitializer(g, LLVMConstArray2(ir.i64, all, words));
  LLVMSetGlobalConstant(g, 1);
  LLVMSetLinkage(g, LLVMPrivateLinkage);
  return g;
}

/// Body of the scalar helper: x finite and large -> {r, tail, q}.
TrigParts payne_hanek(V x) {
  Ir& ir = *x.ir;
  const bool wide = is_f64(x);
  const int mantissa = wide ? 52 : 23, bias = wide ? 1023 : 127;
  const V i = resize_unsigned(as_bits(x), ir.i64);
  const V m = bits_or(bits_and(i, (std::int64_t{1} << mantissa) - 1), std::int64_t{1} << mantissa);
  const V e = bits_and(lshr(i, mantissa), wide ? 0x7ff : 0xff) - (bias + mantissa);  // |x| = m 2^e
  // The first bit that counts modulo 4 quadrants stands two places before the binary point.
  const V position = e + (64 - 2);
  const V word = lshr(position, 6), shift = bits_and(position, 63);
  V window[3];
  V t[4];
  for (int k = 0; k < 4; ++k) {
    const V index = word + k;
    const LLVMValueRef at = LLVMBuildInBoundsGEP2(ir.b, ir.i64, table(ir), const_cast<LLVMValueRef*>(&index.v), 1, "");
    t[k] = ir.wrap(LLVMBuildLoad2(ir.b, ir.i64, at, ""));
  }
  for (int k = 0; k < 3; ++k) window[k] = ir.intrinsic("llvm.fshl", {ir.i64}, {t[k], t[k + 1], shift});
  const LLVMTypeRef i128 = LLVMIntTypeInContext(ir.c, 128);
  auto product = [&](V a) { return resize_unsigned(m, i128) * resize_unsigned(a, i128); };
  auto high = [&](V a) { return resize_unsigned(lshr(a, 64), ir.i64); };
  // Fraction of a full turn, 128 bits; the lowest word only carries.
  const V middle = product(window[1]) + resize_unsigned(high(product(window[2])), i128);
  const V top = m * window[0] + high(middle);
  V fraction = shl(resize_unsigned(top, i128), 64) | resize_unsigned(resize_unsigned(middle, ir.i64), i128);
  const V q = lshr(top + ir.integer(ir.i64, std::int64_t{1} << 61), 62);
  fraction = fraction - shl(resize_unsigned(q, i128), 126);
  const V negative = lt(fraction, 0.0);
  const V size = select(negative, -fraction, fraction);
  const V zeros = ir.intrinsic("llvm.ctlz", {i128}, {size, ir.integer(ir.i1, 0)});
  const V normal = ir.wrap(LLVMBuildShl(ir.b, size.v, zeros.v, ""));
  // 2^(2 - zeros) in quarter turns times the top bits: 53 of them, then the next 53.
  const V unit = power_of_two(resize_unsigned(zeros, ir.i64) * -1.0 + 2);
  const V first = unsigned_to_float(resize_unsigned(lshr(normal, 75), ir.i64), ir.f64) * 1.1102230246251565e-16 * unit;
  const V second =
      unsigned_to_float(bits_and(resize_unsigned(lshr(normal, 22), ir.i64), (std::int64_t{1} << 53) - 1), ir.f64) *
      1.232595164407831e-32 * unit;
  const V r = first * 1.5707963267948966;
  const V tail = fma(first, number(first, 1.5707963267948966), -r) +
                 fma(second, 1.5707963267948966, first * 6.123233995736766e-17);
  const V minus = negative ^ lt(as_bits(x), 0.0);
  const V sum = r + tail, rest = tail - (sum - r);
  const V quadrant = select(lt(as_bits(x), 0.0), -q, q);
  const V signed_sum = select(minus, -sum, sum), signed_rest = select(minus, -rest, rest);
  if (wide) return {signed_sum, signed_rest, quadrant};
  return {to_f32(signed_sum), to_f32(signed_rest), resize_unsigned(quadrant, ir.i32)};
}

/// The helper function {r, tail, q}(x), made once a module.
LLVMValueRef helper(Ir& ir, LLVMTypeRef element, LLVMTypeRef& type) {
  const bool wide = element == ir.f64;
  const char* symbol = wide ? "rlx.rem_half_pi.f64" : "rlx.rem_half_pi.f32";
  LLVMTypeRef parts[] = {element, element, wide ? ir.i64 : ir.i32};
  const LLVMTypeRef result = LLVMStructTypeInContext(ir.c, parts, 3, 0);
  type = LLVMFunctionType(result, &element, 1, 0);
  if (LLVMValueRef known = LLVMGetNamedFunction(ir.m, symbol)) return known;
  const LLVMValueRef f = LLVMAddFunction(ir.m, symbol, type);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  for (const char* word : {"noinline", "nounwind", "cold"})
    LLVMAddAttributeAtIndex(
        f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
        LLVMCreateEnumAttribute(ir.c, LLVMGetEnumAttributeKindForName(word, std::char_traits<char>::length(word)), 0));
  const LLVMBasicBlockRef back = ir.here();
  const LLVMValueRef outer = ir.fn;
  ir.fn = f;
  ir.at(ir.block("entry"));
  const TrigParts t = payne_hanek(ir.wrap(LLVMGetParam(f, 0)));
  LLVMValueRef all = LLVMGetPoison(result);
  all = LLVMBuildInsertValue(ir.b, all, t.r.v, 0, "");
  all = LLVMBuildInsertValue(ir.b, all, t.tail.v, 1, "");
  all = LLVMBuildInsertValue(ir.b, all, t.q.v, 2, "");
  LLVMBuildRet(ir.b, all);
  ir.fn = outer;
  ir.at(back);
  return f;
}

/// Replaces the lanes of `t` that `large` marks. Other lanes call the helper too, on a harmless argument.
TrigParts reduce_large(V x, V large, const TrigParts& t) {
  Ir& ir = *x.ir;
  LLVMTypeRef type;
  const LLVMValueRef f = helper(ir, Ir::element(x.type()), type);
  const int n = Ir::lanes(x.type());
  const V argument = select(large, x, 1e10);
  auto one = [&](V scalar) { return ir.call(type, f, std::span<const V>(&scalar, 1)); };
  auto part = [&](V all, unsigned i) { return ir.wrap(LLVMBuildExtractValue(ir.b, all.v, i, "")); };
  V r = t.r, tail = t.tail, q = t.q;
  if (n == 1) {
    const V all = one(argument);
    r = part(all, 0), tail = part(all, 1), q = part(all, 2);
  } else {
    // A loop over lanes keeps the code small; it runs for huge arguments only.
    const LLVMBasicBlockRef before = ir.here(), head = ir.block("lanes"), done = ir.block("lanes.done");
    ir.jump(head);
    ir.at(head);
    const V i = ir.phi(ir.i32), pr = ir.phi(r.type()), pt = ir.phi(tail.type()), pq = ir.phi(q.type());
    const V all = one(ir.lane(argument, i));
    auto put = [&](V into, unsigned k) {
      return ir.wrap(LLVMBuildInsertElement(ir.b, into.v, part(all, k).v, i.v, ""));
    };
    const V nr = put(pr, 0), nt = put(pt, 1), nq = put(pq, 2), next = i + 1;
    const LLVMBasicBlockRef end = ir.here();
    for (auto [phi, first, later] : {std::array{i, ir.integer(ir.i32, 0), next}, std::array{pr, r, nr},
                                     std::array{pt, tail, nt}, std::array{pq, q, nq}}) {
      Ir::incoming(phi, first, before);
      Ir::incoming(phi, later, end);
    }
    ir.branch(lt(next, static_cast<double>(n)), head, done);
    ir.at(done);
    r = nr, tail = nt, q = nq;
  }
  return {select(large, r, t.r), select(large, tail, t.tail), select(large, q, t.q)};
}

}  // namespace

TrigParts reduce_half_pi(V x) {
  const bool wide = is_f64(x);
  Ir& ir = *x.ir;
  const V size = abs(x);
  const double bound = wide ? 1073741824.0 : 131072.0;  // 2^30, 2^17
  const Rounded n = round_scaled(x, wide ? 0.6366197723675814 : 0.63661977236);
  TrigParts t;
  t.q = n.bits;
  if (wide) {
    const V d = fma(n.real, -1.5707963267948966, x);  // exact
    const V w = n.real * 6.123233995736766e-17;
    const V lost = fma(n.real, number(x, 6.123233995736766e-17), -w);
    t.r = d - w;
    t.tail = fma(n.real, 1.4973849048591698e-33, ((d - t.r) - w) - lost);
  } else {
    V r = fma(n.real, -1.57079637050628662109375, x);  // exact
    r = fma(n.real, 4.37113900018624283e-8, r);
    t.r = fma(n.real, 1.71512451306e-15, r);
    t.tail = ir.zero(x.type());
  }
  const V finite = lt(size, infinity()), large = finite & ~lt(size, bound);
  // Control flow merges one value at a time: pack through the widest form by three merges over one condition.
  const LLVMBasicBlockRef from = ir.here(), slow = ir.block("large"), join = ir.block("reduced");
  ir.branch(any(large), slow, join);
  ir.at(slow);
  const TrigParts l = reduce_large(x, large, t);
  const LLVMBasicBlockRef last = ir.here();
  ir.jump(join);
  ir.at(join);
  TrigParts out{ir.phi(t.r.type()), ir.phi(t.tail.type()), ir.phi(t.q.type())};
  for (auto [phi, fast, late] :
       {std::array{out.r, t.r, l.r}, std::array{out.tail, t.tail, l.tail}, std::array{out.q, t.q, l.q}}) {
    Ir::incoming(phi, fast, from);
    Ir::incoming(phi, late, last);
  }
  out.r = select(finite, out.r, quiet_nan());
  return out;
}

V sin_kernel(const TrigParts& t) {
  const V r = t.r, z = r * r;
  if (!is_f64(r)) return fma(r * z, polynomial(z, {-0.166666672, 0.00833332911, -0.000198392969, 2.71793988e-06}), r);
  const V s =
      polynomial(z, {-0.16666666666666666, 0.008333333333333323, -0.00019841269841254386, 2.7557319213830425e-06,
                     -2.505210481628842e-08, 1.6058354305962707e-10, -7.578078703409137e-13});
  return r + fma(r * z, s, fma(z * -0.5, t.tail, t.tail));
}

V cos_kernel(const TrigParts& t) {
  const V r = t.r, z = r * r;
  if (!is_f64(r))
    return fma(z * z, polynomial(z, {0.0416666456, -0.00138873386, 2.44349521e-05}), fma(z, -0.5, number(z, 1.0)));
  const V c = polynomial(z, {0.041666666666666595, -0.001388888888887339, 2.480158728900321e-05, -2.755731420839401e-07,
                             2.0875703010208316e-09, -1.1358565175122885e-11});
  const V half = z * 0.5, w = 1.0 - half;
  return w + (((1.0 - w) - half) + fma(z * z, c, -(r * t.tail)));
}

namespace {
/// Kernel by quadrant: odd ones take the other kernel, the upper two change sign.
V by_quadrant(const TrigParts& t, V q) {
  const V odd = ne(bits_and(q, 1), number(q, 0));
  const V y = select(odd, cos_kernel(t), sin_kernel(t));
  const int top = Ir::bits(q.type()) - 2;
  return as_float(as_bits(y) ^ shl(bits_and(q, 2), top));
}
}  // namespace

V sin(V x) {
  const TrigParts t = reduce_half_pi(x);
  return select(eq(x, 0.0), x, by_quadrant(t, t.q));
}
V cos(V x) {
  const TrigParts t = reduce_half_pi(x);
  return by_quadrant(t, t.q + 1);
}
V tan(V x) {
  if (!is_f64(x)) return to_f32(tan(to_f64(x)));  // two kernels and a division lose too much in f32
  const TrigParts t = reduce_half_pi(x);
  const V odd = ne(bits_and(t.q, 1), number(t.q, 0));
  const V s = sin_kernel(t), c = cos_kernel(t);
  return select(eq(x, 0.0), x, select(odd, -c, s) / select(odd, s, c));
}

}  // namespace rlx::emit_llvm::math
