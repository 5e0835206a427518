// Packed matrix products against a plain loop in f64 (integers: exactly), on every level this processor has.
#include "backends/cpu/cpu_device.hpp"
#include "backends/cpu/kernels/matmul.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ir/builder.hpp>
#include <rlx/ops/attributes/contraction.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace rlx {
namespace {

using Sizes = std::vector<std::int64_t>;

std::vector<emit_llvm::Isa> levels() {
  std::vector<emit_llvm::Isa> all;
  for (auto isa : {emit_llvm::Isa::generic, emit_llvm::Isa::avx2, emit_llvm::Isa::avx512})
    if (isa <= emit_llvm::best_host_isa()) all.push_back(isa);
  return all;
}
/// All levels, and what the choice of instructions by processor would leave out: without tile registers, bf16 in pairs,
/// and i8 without vpdpbusd.
std::vector<emit_llvm::Machine> machines() {
  std::vector<emit_llvm::Machine> all;
  for (emit_llvm::Isa isa : levels()) all.push_back(emit_llvm::host_machine(isa));
  emit_llvm::Machine m = all.back();
  // Whether it had the feature.
  const auto remove = [&m](const char* feature) {
    const auto at = m.features.find("+" + std::string(feature));
    if (at != std::string::npos) m.features[at] = '-';
    return at != std::string::npos;
  };
  if (remove("amx-tile")) all.push_back(m);
  if (m.features.find("+avx512bf16") != std::string::npos) {
    emit_llvm::Machine other = m;  // the features still say what may be used
    other.cpu = m.cpu.starts_with("znver") ? "sapphirerapids" : "znver4";
    all.push_back(other);
  }
  if (remove("avx512vnni")) all.push_back(m);
  return all;
}

HostTensor random_matrices(DType t, Sizes shape, unsigned seed) {
  HostTensor x(t, std::move(shape));
  std::mt19937 g(seed);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    if (is_floating(t)) x.set_f64(i, std::uniform_real_distribution<double>(-1, 1)(g));
    else x.set_i64(i, std::uniform_int_distribution<int>(-128, 127)(g));
  }
  return x;
}

struct MatmulCase {
  DType in, out;
  std::int64_t batch, m, n, k;
  bool transpose_a = false, transpose_b = false;
};

std::vector<std::int64_t> steps(std::int64_t count, std::int64_t stride) {
  std::vector<std::int64_t> o(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < o.size(); ++i) o[i] = static_cast<std::int64_t>(i) * stride;
  return o;
}
cpu::MatmulProblem problem(const MatmulCase& c) {
  return {c.in,
          c.out,
          steps(c.batch, c.m * c.k),
          steps(c.m, c.transpose_a ? 1 : c.k),
          steps(c.k, c.transpose_a ? c.m : 1),
          steps(c.batch, c.k * c.n),
          steps(c.n, c.transpose_b ? c.k : 1),
          steps(c.k, c.transpose_b ? 1 : c.n)};
}

HostTensor multiply(const emit_llvm::Machine& machine, const MatmulCase& c, const HostTensor& a, const HostTensor& b,
                    int threads) {
  HostTensor r(c.out, {c.batch, c.m, c.n});
  if (r.bytes()) std::memset(r.mutable_data(), 0x7f, static_cast<std::size_t>(r.bytes()));
  const std::int64_t bytes = cpu::matmul_workspace(machine, c.in, c.out, c.batch, c.m, c.n, c.k, threads);
  // Guards after the workspace; what packing leaves there must not matter.
  std::vector<std::byte> work(static_cast<std::size_t>(bytes) + 64, std::byte{0xff});
  cpu::matmul(machine, problem(c), a.data(), b.data(), r.mutable_data(), work.data(), threads);
  for (std::int64_t i = bytes; i < bytes + 64; ++i)
    EXPECT_EQ(work[static_cast<std::size_t>(i)], std::byte{0xff}) << "written after the workspace";
  return r;
}

/// Sums of k products: k roundings of the sums' type at most; then one of the result's.
void check_product(const MatmulCase& c, const HostTensor& a, const HostTensor& b, const HostTensor& r) {
  const double unit = c.in == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double last = c.out == DType::bf16 ? 0x1p-8 : c.out == DType::f16 ? 0x1p-11 : 0;
  const cpu::MatmulProblem p = problem(c);
  const std::size_t depth = p.a_depth.size();
  // Both with k running fastest.
  const auto gathered = [depth](const HostTensor& t, std::int64_t base, const std::vector<std::int64_t>& lanes,
                                const std::vector<std::int64_t>& along) {
    std::vector<double> v;
    v.reserve(lanes.size() * depth);
    for (std::int64_t lane : lanes)
      for (std::int64_t k : along) v.push_back(t.get_f64(base + lane + k));
    return v;
  };
  int bad = 0;
  std::int64_t at = 0;
  for (std::size_t q = 0; q < p.a_batch.size(); ++q) {
    const std::vector<double> x = gathered(a, p.a_batch[q], p.a_rows, p.a_depth),
                              y = gathered(b, p.b_batch[q], p.b_columns, p.b_depth);
    for (std::size_t row = 0; row < p.a_rows.size(); ++row)
      for (std::size_t column = 0; column < p.b_columns.size(); ++column) {
        double sum = 0, magnitude = 0;
        for (std::size_t k = 0; k < depth; ++k) {
          const double v = x[row * depth + k] * y[column * depth + k];
          sum += v, magnitude += std::abs(v);
        }
        if (c.in == DType::i8) {
          const std::int64_t want = c.out == DType::i8 ? static_cast<std::int8_t>(static_cast<std::int64_t>(sum))
                                                       : static_cast<std::int64_t>(sum);
          bad += r.get_i64(at) != want;
        } else {
          const double bound = static_cast<double>(c.k + 1) * unit * magnitude * 1.01 + last * std::abs(sum) * 1.01 +
                               (c.out == DType::f16 ? 0x1p-25 : 0);
          bad += !(std::abs(r.get_f64(at) - sum) <= bound);
        }
        if (bad == 1) ADD_FAILURE() << "element " << at << " is " << r.get_f64(at) << ", expected " << sum, ++bad;
        ++at;
      }
  }
  EXPECT_EQ(bad, 0);
}

struct Kind {
  DType in, out;
};
constexpr Kind kinds[] = {{DType::f32, DType::f32},   {DType::f64, DType::f64}, {DType::bf16, DType::f32},
                          {DType::bf16, DType::bf16}, {DType::f16, DType::f32}, {DType::f16, DType::f16},
                          {DType::i8, DType::i32},    {DType::i8, DType::i8}};

void run_case(const emit_llvm::Machine& machine, const MatmulCase& c) {
  SCOPED_TRACE(std::string(name(machine.isa)) + " " + std::string(name(c.in)) + " -> " + std::string(name(c.out)) +
               " " + std::to_string(c.batch) + "x" + std::to_string(c.m) + "x" + std::to_string(c.n) + "x" +
               std::to_string(c.k) + (c.transpose_a ? " A^T" : "") + (c.transpose_b ? " B^T" : ""));
  const HostTensor a = random_matrices(c.in, {c.batch, c.m, c.k}, 1), b = random_matrices(c.in, {c.batch, c.k, c.n}, 2);
  const HostTensor r = multiply(machine, c, a, b, 1);
  check_product(c, a, b, r);
  for (int threads : {2, 4}) EXPECT_TRUE(r.identical(multiply(machine, c, a, b, threads))) << threads << " threads";
}

TEST(CpuMatmul, OddSizes) {
  const Sizes odd{1, 7, 13, 33, 257};
  for (const emit_llvm::Machine& machine : machines())
    for (const Kind& t : kinds)
      for (std::size_t i = 0; i < odd.size(); ++i)
        for (std::size_t j = 0; j < odd.size(); ++j) {
          // Every pair of rows and columns; depth and transposition go round.
          const std::size_t turn = i * odd.size() + j;
          run_case(machine,
                   {t.in, t.out, 1, odd[i], odd[j], odd[(i + 2 * j) % odd.size()], (turn & 1) != 0, (turn & 2) != 0});
        }
}

TEST(CpuMatmul, DepthInSeveralBlocks) {
  for (const emit_llvm::Machine& machine : machines())
    for (const Kind& t : kinds)
      for (bool turn : {false, true})
        run_case(machine, {t.in, t.out, 1, 31, 41, t.in == DType::i8 ? 9001 : 2301, turn, !turn});
}

// Rows that are multiplied from where they lie give the bits of packed ones: transposed, they are packed.
TEST(CpuMatmul, RowsInPlace) {
  for (const emit_llvm::Machine& machine : machines())
    for (const DType t : {DType::f32, DType::f64})
      for (const std::int64_t n : {5, 16, 40, 64, 100, 500}) {
        const MatmulCase c{t, t, 1, 29, n, 1204}, packed{t, t, 1, 29, n, 1204, true, false};
        SCOPED_TRACE(std::string(name(machine.isa)) + " " + std::string(name(t)) + " " + std::to_string(n));
        run_case(machine, c);
        const HostTensor a = random_matrices(t, {1, c.m, c.k}, 1), b = random_matrices(t, {1, c.k, n}, 2);
        HostTensor turned(t, {1, c.k, c.m});
        for (std::int64_t i = 0; i < c.m; ++i)
          for (std::int64_t k = 0; k < c.k; ++k) turned.set_f64(k * c.m + i, a.get_f64(i * c.k + k));
        EXPECT_TRUE(multiply(machine, c, a, b, 1).identical(multiply(machine, packed, turned, b, 1)));
      }
}

TEST(CpuMatmul, RowsAndColumnsInSeveralBlocks) {
  for (const emit_llvm::Machine& machine : machines()) {
    run_case(machine, {DType::f32, DType::f32, 1, 5, 4200, 9});
    run_case(machine, {DType::bf16, DType::bf16, 1, 1037, 1041, 5});
    run_case(machine, {DType::i8, DType::i32, 1, 9001, 6, 900});
  }
}

TEST(CpuMatmul, Batches) {
  for (const emit_llvm::Machine& machine : machines())
    for (const Kind& t : kinds) {
      run_case(machine, {t.in, t.out, 37, 17, 19, 23, true, false});
      run_case(machine, {t.in, t.out, 2, 161, 170, 180, false, true});
    }
}

TEST(CpuMatmul, EmptyExtents) {
  const emit_llvm::Machine machine = emit_llvm::host_machine(emit_llvm::best_host_isa());
  for (const Kind& t : kinds)
    for (const MatmulCase& c : {MatmulCase{t.in, t.out, 0, 3, 4, 5}, MatmulCase{t.in, t.out, 2, 0, 4, 5},
                                MatmulCase{t.in, t.out, 2, 3, 0, 5}, MatmulCase{t.in, t.out, 2, 3, 4, 0}})
      run_case(machine, c);
}

TEST(CpuMatmul, InfinitiesAndNansStayWhereTheyAre) {
  for (const emit_llvm::Machine& machine : machines())
    for (const Kind& t : kinds) {
      if (!is_floating(t.in)) continue;
      const MatmulCase c{t.in, t.out, 1, 15, 35, 20};
      HostTensor a = random_matrices(t.in, {1, 15, 20}, 1), b = random_matrices(t.in, {1, 20, 35}, 2);
      a.set_f64(3 * 20 + 2, INFINITY), a.set_f64(7 * 20 + 5, NAN);
      const HostTensor r = multiply(machine, c, a, b, 1);
      for (std::int64_t i = 0; i < 15; ++i)
        for (std::int64_t j = 0; j < 35; ++j) {
          const double v = r.get_f64(i * 35 + j);
          ASSERT_TRUE(i == 3   ? std::isinf(v)
                      : i == 7 ? std::isnan(v)
                               : std::isfinite(v))
              << name(machine.isa) << ' ' << name(t.in) << ' ' << i << ' ' << j << ' ' << v;
        }
    }
}

// f16 subnormals are numbers: 2^-24 times 2^10.
TEST(CpuMatmul, SubnormalHalves) {
  for (const emit_llvm::Machine& machine : machines()) {
    const MatmulCase c{DType::f16, DType::f32, 1, 16, 16, 16};
    HostTensor a(DType::f16, {1, 16, 16}), b(DType::f16, {1, 16, 16});
    for (std::int64_t i = 0; i < 256; ++i) a.set_f64(i, 0x1p-24 * static_cast<double>(i % 5)), b.set_f64(i, 1024);
    check_product(c, a, b, multiply(machine, c, a, b, 1));
  }
}

// Through the compiler, with dimension numbers that no two strides describe.
class CpuMatmulRecord : public ::testing::TestWithParam<DType> {};
TEST_P(CpuMatmulRecord, AnyDimensionNumbers) {
  const ops::DotGeneralAttrs attrs{{2}, {0}, {3, 0}, {1, 3}};
  const Sizes x{3, 5, 2, 16}, y{2, 16, 9, 3, 4};  // m = 5; n = 9 x 4; k = 16 x 3
  const HostTensor a = random_matrices(GetParam(), x, 3), b = random_matrices(GetParam(), y, 4);
  const runtime::Catalog catalog = make_catalog();
  for (emit_llvm::Isa isa : levels()) {
    const std::shared_ptr<cpu::CpuDevice> device = cpu::open_device({.isa = isa});
    Graph g("dot");
    Builder build(g, catalog.operators);
    const auto type = [](DType t, const Sizes& s) { return tensor(t, Shape(s.begin(), s.end())); };
    const Value l = build.input(type(GetParam(), x), "x"), r = build.input(type(GetParam(), y), "y");
    build.output(build.emit("dot_general", {l, r}, attrs).front(), "z");
    const runtime::Executable program(device, g, catalog);
    ASSERT_EQ(program.report().rows.at(0).lowering, "cpu.matmul");
    const HostValues got = program.run(std::vector<HostValue>{a, b});
    const auto& z = std::get<HostTensor>(got[0]);
    std::int64_t at = 0;
    for (std::int64_t q = 0; q < 2; ++q)
      for (std::int64_t i = 0; i < 5; ++i)
        for (std::int64_t j = 0; j < 36; ++j, ++at) {
          double sum = 0, magnitude = 0;
          for (std::int64_t k = 0; k < 16; ++k)
            for (std::int64_t h = 0; h < 3; ++h) {
              const double v = a.get_f64(((h * 5 + i) * 2 + q) * 16 + k) *
                               b.get_f64((((q * 16 + k) * 9 + j / 4) * 3 + h) * 4 + j % 4);
              sum += v, magnitude += std::abs(v);
            }
          ASSERT_NEAR(z.get_f64(at), sum, 49 * (GetParam() == DType::f64 ? 0x1p-53 : 0x1p-24) * magnitude) << at;
        }
  }
}
INSTANTIATE_TEST_SUITE_P(Types, CpuMatmulRecord, ::testing::Values(DType::f32, DType::f64),
                         [](const auto& i) { return std::string(name(i.param)); });

}  // namespace
}  // namespace rlx
