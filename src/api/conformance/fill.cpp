#include "api/conformance/fill.hpp"

#include "api/conformance/resources.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ops/comm.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numeric>
#include <utility>

namespace rlx::conformance {

using Complex = std::complex<double>;

// The finalizer of SplitMix64 (G. Steele et al., OOPSLA 2014), of a counter instead of a state.
static std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t Generator::word() { return mixed(seed_ + ++counter_ * 0x9e3779b97f4a7c15); }

std::uint64_t seed_of(std::string_view op, std::size_t sample, std::size_t operand, std::size_t member) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (unsigned char c : op) h = (h ^ c) * 0x100000001b3;
  for (std::size_t part : {sample, operand, member}) h = mixed(h + part + 1);
  return h;
}

bool is_lone_communicator(const Type& t) {
  const auto* r = std::get_if<ResourceType>(&t);
  return r && r->kind == "communicator" && r->shape == Shape{1};
}

namespace {

/// Everything that it exchanges is its own.
class LoneRank final : public ops::HostCommunicator {
 public:
  std::int64_t size() const override { return 1; }
  std::int64_t rank() const override { return 0; }
  std::vector<HostTensor> exchange(const HostTensor& mine) const override { return {mine}; }
};

}  // namespace

std::optional<std::string> cannot_fill(const SampleOperand& o, const Registry& registry) {
  if (const auto* r = std::get_if<ResourceType>(&o.type); r && !is_lone_communicator(o.type)) {
    if (r->kind == "communicator") return "a communicator of several ranks";
    if (!maker_of(*r, registry)) return "a " + r->kind + " operand, which no operator makes of a matrix";
  }
  if (!is_constant(o.type)) return "a symbolic dimension";
  if (const auto* s = std::get_if<SparseType>(&o.type); s && s->format != SparseFormat::csr)
    return "a sparse operand that is not csr";
  return std::nullopt;
}

HostTensor from_literal(DType t, const std::vector<std::int64_t>& shape, const std::vector<double>& elements) {
  HostTensor x(t, shape);
  const std::size_t wanted = static_cast<std::size_t>(x.numel()) * (is_complex(t) ? 2 : 1);
  if (elements.size() != wanted)
    throw ArgumentError("a literal has " + std::to_string(elements.size()) + " numbers, expected " +
                        std::to_string(wanted));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (is_complex(t)) x.set_c128(i, {elements[2 * k], elements[2 * k + 1]});
    else x.set_f64(i, elements[k]);
  }
  return x;
}

void set_uniform(HostTensor& x, std::int64_t i, double low, double high, Generator& g) {
  const DType t = x.dtype();
  if (t == DType::boolean) return x.set_i64(i, g.below(2));
  if (is_unsigned_integer(t)) low = std::max(low, 0.0);
  if (is_integer(t)) return x.set_f64(i, std::min(high, low + std::floor((high - low + 1) * g.unit())));
  if (!is_complex(t)) return x.set_f64(i, g.in(low, high));
  const double real = g.in(low, high);
  x.set_c128(i, {real, g.in(low, high)});
}

namespace {

// Fills the matrices of the last two dimensions one by one.
template <class F>
void each_matrix(HostTensor& x, F fill) {
  const auto& s = x.shape();
  if (s.size() < 2 || s[s.size() - 1] != s[s.size() - 2]) throw ArgumentError("this fill needs square matrices");
  const std::int64_t n = s.back();
  for (std::int64_t base = 0; n && base < x.numel(); base += n * n) {
    const std::vector<Complex> a = fill(n);
    for (std::int64_t i = 0; i < n * n; ++i) x.set_c128(base + i, a[static_cast<std::size_t>(i)]);
  }
}

class Matrices {
 public:
  Matrices(bool complex, Generator& g) : complex_(complex), g_(g) {}

  // 1/2 I + B B^H, of which the second term has eigenvalues from 0 to about 4/3 n, scaled down to n.
  std::vector<Complex> positive_definite(std::int64_t n) {
    const std::vector<Complex> b = square(n);
    std::vector<Complex> a(b.size());
    const double scale = complex_ ? 0.375 : 0.75;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        Complex sum = i == j ? 0.5 : 0.0;
        for (std::int64_t k = 0; k < n; ++k) sum += scale * b[at(n, i, k)] * std::conj(b[at(n, j, k)]);
        a[at(n, i, j)] = sum;
        a[at(n, j, i)] = std::conj(sum);
        if (i == j) a[at(n, i, j)] = sum.real();
      }
    return a;
  }
  std::vector<Complex> well_conditioned(std::int64_t n) {
    std::vector<Complex> a = square(n);
    for (std::int64_t i = 0; i < n; ++i) {
      double row = 1;
      for (std::int64_t j = 0; j < n; ++j) row += std::abs(a[at(n, i, j)]);
      a[at(n, i, i)] = row;
    }
    return a;
  }
  std::vector<Complex> lower_triangular(std::int64_t n) {
    std::vector<Complex> a = square(n);
    for (std::int64_t i = 0; i < n; ++i) {
      a[at(n, i, i)] = g_.in(1, 2);
      for (std::int64_t j = i + 1; j < n; ++j) a[at(n, i, j)] = 0;
    }
    return a;
  }

 private:
  static std::size_t at(std::int64_t n, std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); }
  std::vector<Complex> square(std::int64_t n) {
    std::vector<Complex> a(static_cast<std::size_t>(n * n));
    for (Complex& v : a) {
      const double real = g_.in(-1, 1);
      v = {real, complex_ ? g_.in(-1, 1) : 0};
    }
    return a;
  }
  bool complex_;
  Generator& g_;
};

std::vector<double> shuffled(std::vector<double> v, Generator& g) {
  for (std::size_t i = v.size(); i > 1; --i)
    std::swap(v[i - 1], v[static_cast<std::size_t>(g.below(static_cast<std::int64_t>(i)))]);
  return v;
}

}  // namespace

void fill_tensor(HostTensor& x, const SampleOperand& o, Generator& g) {
  const std::int64_t n = x.numel();
  Matrices matrices(is_complex(x.dtype()), g);
  switch (o.fill) {
    case Fill::uniform:
      for (std::int64_t i = 0; i < n; ++i) set_uniform(x, i, o.low, o.high, g);
      break;
    case Fill::index:
      for (std::int64_t i = 0; i < n; ++i)
        x.set_i64(i, g.below(std::max<std::int64_t>(1, static_cast<std::int64_t>(o.high))));
      break;
    case Fill::positive_definite:
      each_matrix(x, [&](std::int64_t k) { return matrices.positive_definite(k); });
      break;
    case Fill::well_conditioned:
      each_matrix(x, [&](std::int64_t k) { return matrices.well_conditioned(k); });
      break;
    case Fill::lower_triangular:
      each_matrix(x, [&](std::int64_t k) { return matrices.lower_triangular(k); });
      break;
    case Fill::permutation: {
      const std::int64_t row = x.rank() ? x.shape().back() : 1;
      for (std::int64_t base = 0; row && base < n; base += row) {
        std::vector<double> p(static_cast<std::size_t>(row));
        std::iota(p.begin(), p.end(), 0.0);
        p = shuffled(std::move(p), g);
        for (std::int64_t i = 0; i < row; ++i) x.set_f64(base + i, p[static_cast<std::size_t>(i)]);
      }
      break;
    }
    case Fill::offsets: {
      std::vector<double> v(static_cast<std::size_t>(n));
      for (double& e : v) e = std::floor(g.unit() * (o.high + 1));
      std::sort(v.begin(), v.end());
      if (!v.empty()) v.front() = 0, v.back() = n > 1 ? o.high : 0;
      for (std::int64_t i = 0; i < n; ++i) x.set_f64(i, v[static_cast<std::size_t>(i)]);
      break;
    }
    case Fill::distinct: {
      std::vector<double> v(static_cast<std::size_t>(n) * (is_complex(x.dtype()) ? 2 : 1));
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = o.low +
               (o.high - o.low) * (v.size() > 1 ? static_cast<double>(i) / static_cast<double>(v.size() - 1) : 0.5);
      x = from_literal(x.dtype(), x.shape(), shuffled(std::move(v), g));
      break;
    }
    case Fill::key:
      for (std::int64_t i = 0; i < n; ++i) x.set_u64(i, g.word());
      break;
  }
}

HostValue filled(const SampleOperand& o, std::uint64_t seed) {
  Generator g(seed);
  if (const auto* s = std::get_if<SparseType>(&o.type)) return fill_csr(*s, o, g);
  if (std::holds_alternative<TokenType>(o.type)) return HostToken{};
  if (const auto* r = std::get_if<ResourceType>(&o.type)) {
    if (!is_lone_communicator(o.type)) throw InternalError("conformance gives no " + to_string(o.type));
    const std::shared_ptr<const ops::HostCommunicator> lone = std::make_shared<LoneRank>();
    return HostResource{*r, lone};
  }
  const auto& t = std::get<TensorType>(o.type);
  if (!o.literal.empty()) return from_literal(t.dtype, constant_shape(t.shape), o.literal);
  HostTensor x(t.dtype, constant_shape(t.shape));
  fill_tensor(x, o, g);
  return x;
}

}  // namespace rlx::conformance
