// The oneapi device: memory, launches, index spaces, teams, loops, checks. Programs are built by hand.
#include "oneapi_support.hpp"

#include <rlx/ir/error.hpp>

#include <cmath>
#include <thread>

namespace rlx {
namespace {

using test::Body;
using test::device_buffer;
using test::inputs_like;
using test::kernel;
using Oneapi = test::OneapiTest;

HostTensor counting(DType t, std::int64_t n) {
  HostTensor x(t, {n});
  for (std::int64_t i = 0; i < n; ++i) x.set_i64(i, i);
  return x;
}

TEST_F(Oneapi, TargetStatesTheDevice) {
  const Target& t = device->target();
  EXPECT_EQ(t.device, "oneapi");
  EXPECT_NE(t.description.find("OpenCL"), std::string::npos);
  EXPECT_GE(t.max_team_threads, 64);
  EXPECT_GE(t.local_bytes, 16384);
  EXPECT_FALSE(device->host_addressable());
}

TEST_F(Oneapi, CopiesAndRefusesWhatDoesNotFit) {
  const HostTensor x = counting(DType::i32, 100);
  const runtime::Allocation a = device->allocate(400), b = device->allocate(400);
  device->upload(a, 0, x.data(), 400);
  device->copy(b, 40, a, 0, 200);
  HostTensor y(DType::i32, {50});
  device->download(y.mutable_data(), b, 40, 200);
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(y.get_i64(i), i);
  EXPECT_THROW(device->download(y.mutable_data(), b, 300, 200), InternalError);
  EXPECT_THROW(device->allocate(device->target().max_slab_bytes + 8), MemoryError);
  device->release(a);
  device->release(b);
  device->release(device->allocate(0));
}

// Every rank from 0 to 5, last dimensions longer and shorter than a group, sizes that are no multiple of it, and none
// at all.
TEST_F(Oneapi, IndexSpacesReachEveryPointOnce) {
  const std::vector<std::vector<std::int64_t>> spaces = {
      {}, {1}, {130}, {5, 7}, {3, 70}, {2, 3, 100}, {2, 3, 4, 5}, {2, 3, 2, 2, 65}, {3, 0, 4}};
  Graph g;
  Builder b(g, test::scalar_registry());
  const Value out = b.input(device_buffer(DType::i32, 2000), "out");
  for (std::size_t s = 0; s < spaces.size(); ++s)
    kernel(b, {.name = "space" + std::to_string(s), .policy = lir::Policy::mdrange, .extents = spaces[s]}, {out},
           [&](const Body& w, ValuesIn i, ValuesIn p) {
             Value flat = w.i64(0);
             for (std::size_t d = 0; d < i.size(); ++d) flat = w.add(w.mul(flat, w.i64(spaces[s][d])), i[d]);
             w.store(p[0], flat, w.add(w.load(p[0], flat), w.convert(w.add(flat, w.i64(1)), DType::i32)));
           });
  const auto module = device->compile(g);
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    std::int64_t points = 1;
    for (std::int64_t e : spaces[s]) points *= e;
    std::vector<HostTensor> memory{HostTensor(DType::i32, {2000})};
    const Slab slab = upload(memory);
    module->launch(s, slab.buffers());
    device->download(memory[0].mutable_data(), slab.memory, slab.offsets[0], memory[0].bytes());
    for (std::int64_t i = 0; i < 2000; ++i) ASSERT_EQ(memory[0].get_i64(i), i < points ? i + 1 : 0) << "space " << s;
    device->release(slab.memory);
  }
}

// C = A B with tiles in local memory; the sizes are no multiples of the tile.
TEST_F(Oneapi, TiledMatmulInTeams) {
  constexpr std::int64_t M = 37, N = 45, K = 29, T = 8;
  std::vector<HostTensor> m{HostTensor(DType::f32, {M * K}), HostTensor(DType::f32, {K * N}),
                            HostTensor(DType::f32, {M * N})};
  for (int t = 0; t < 2; ++t)
    for (std::int64_t i = 0; i < m[t].numel(); ++i) m[t].set_f64(i, static_cast<double>((i * 7 + t) % 13) - 6);
  Graph g;
  Builder b(g, test::scalar_registry());
  kernel(b,
         {.name = "matmul", .policy = lir::Policy::team, .extents = {(M + T - 1) / T, (N + T - 1) / T}, .team = {T, T}},
         inputs_like(b, m), [&](const Body& w, ValuesIn i, ValuesIn p) {
           const Value tile = w.i64(T);
           const Value row = w.add(w.mul(i[0], tile), i[2]), column = w.add(w.mul(i[1], tile), i[3]),
                       here = w.add(w.mul(i[2], tile), i[3]);
           const TensorType local{DType::f32, {T * T}, Space::local};
           const Value a = b.emit1("lir.local", {}, lir::LocalAttrs{local}),
                       c = b.emit1("lir.local", {}, lir::LocalAttrs{local});
           const auto inside = [&](Value x, std::int64_t n) { return w.compare(x, w.i64(n), ops::Direction::lt); };
           const auto fetch = [&](Value from, Value r, std::int64_t rows, Value k, std::int64_t columns) {
             const RegionBody arms[] = {
                 [&](ValuesIn) -> Values { return {w.load(from, w.add(w.mul(r, w.i64(columns)), k))}; },
                 [&](ValuesIn) -> Values { return {w.constant(DType::f32, 0)}; }};
             return b.emit("lir.if_then", Values{b.emit1("and", {inside(r, rows), inside(k, columns)})}, {}, arms)[0];
           };
           const RegionBody step = [&](ValuesIn s) -> Values {
             w.store(a, here, fetch(p[0], row, M, w.add(s[0], i[3]), K));
             w.store(c, here, fetch(p[1], w.add(s[0], i[2]), K, column, N));
             b.emit("lir.barrier", {});
             const RegionBody inner[] = {
                 [&](ValuesIn k) -> Values {
                   return {w.mul(w.load(a, w.add(w.mul(i[2], tile), k[0])), w.load(c, w.add(w.mul(k[0], tile), i[3])))};
                 },
                 [&](ValuesIn v) -> Values { return {w.add(v[0], v[1])}; }};
             const Value sum = b.emit("lir.reduce", Values{w.i64(0), tile, w.constant(DType::f32, 0)}, {}, inner)[0];
             b.emit("lir.barrier", {});
             return {w.add(s[1], sum)};
           };
           const Value total = b.emit("lir.for", Values{w.i64(0), w.i64(K), w.constant(DType::f32, 0)},
                                      lir::ForAttrs{.step = T}, {&step, 1})[0];
           const RegionBody arms[] = {[&](ValuesIn) -> Values {
                                        w.store(p[2], w.add(w.mul(row, w.i64(N)), column), total);
                                        return {};
                                      },
                                      [](ValuesIn) -> Values { return {}; }};
           b.emit("lir.if_then", Values{b.emit1("and", {inside(row, M), inside(column, N)})}, {}, arms);
         });
  run(g, m);
  for (std::int64_t r = 0; r < M; ++r)
    for (std::int64_t c = 0; c < N; ++c) {
      double sum = 0;
      for (std::int64_t k = 0; k < K; ++k) sum += m[0].get_f64(r * K + k) * m[1].get_f64(k * N + c);
      ASSERT_EQ(m[2].get_f64(r * N + c), sum) << r << " " << c;  // small integers: exact
    }
}

// In place, through two buffers that are the same memory, one element apart.
TEST_F(Oneapi, BuffersMayOverlap) {
  Graph g;
  Builder b(g, test::scalar_registry());
  const Values buffers{b.input(device_buffer(DType::f64, 65), "x"), b.input(device_buffer(DType::f64, 64), "y")};
  kernel(b, {.name = "shift", .extents = {1}}, buffers, [&](const Body& w, ValuesIn, ValuesIn p) {
    const RegionBody trip = [&](ValuesIn i) -> Values {
      w.store(p[1], i[0], w.add(w.load(p[0], i[0]), w.load(p[1], i[0])));
      return {};
    };
    b.emit("lir.for", Values{w.i64(0), w.i64(64)}, lir::ForAttrs{}, {&trip, 1});
  });
  const auto module = device->compile(g);
  HostTensor x = HostTensor::from(DType::f64, {65}, std::vector<double>(65, 1.0));
  const runtime::Allocation a = device->allocate(x.bytes());
  device->upload(a, 0, x.data(), x.bytes());
  const runtime::KernelBuffer both[] = {{&a, 0}, {&a, 8}};
  module->launch(0, both);
  device->download(x.mutable_data(), a, 0, x.bytes());
  for (std::int64_t i = 0; i < 65; ++i) ASSERT_EQ(x.get_f64(i), static_cast<double>(i + 1));  // a running sum
  device->release(a);
}

TEST_F(Oneapi, ChecksReportAnOffenceOnce) {
  std::vector<HostTensor> m{counting(DType::i32, 100), HostTensor(DType::i32, {100})};
  m[0].set_i64(71, -5);
  Graph g;
  Builder b(g, test::scalar_registry());
  const Values buffers = inputs_like(b, m);
  const auto checked = [&](const char* name, std::int64_t limit) {
    kernel(b, {.name = name, .extents = {100}}, buffers, [&](const Body& w, ValuesIn i, ValuesIn p) {
      const Value x = w.convert(w.load(p[0], i[0]), DType::i64);
      b.emit("lir.check", {w.compare(x, w.i64(0), ops::Direction::ge), x}, lir::CheckAttrs{"gather index"});
      b.emit("lir.check", {w.compare(x, w.i64(limit), ops::Direction::lt), x},
             lir::CheckAttrs{std::string(name) + " limit"});
      w.store(p[1], i[0], w.load(p[0], i[0]));
    });
  };
  checked("wide", 100);
  checked("tight", 99);
  const auto module = device->compile(g);
  const auto checks = module->check_record(), others = module->check_record();
  Slab s = upload(m);
  EXPECT_FALSE(checks->take().refused());
  module->launch(0, s.buffers(), checks.get());
  EXPECT_FALSE(others->take().refused());  // Another call's.
  runtime::CheckReport r = checks->take();
  EXPECT_EQ(r.what.kind, "gather index");
  EXPECT_EQ(r.index, -5);
  EXPECT_FALSE(checks->take().refused());
  m[0].set_i64(71, 71);
  device->upload(s.memory, s.offsets[0], m[0].data(), m[0].bytes());
  module->launch(0, s.buffers(), checks.get());
  EXPECT_FALSE(checks->take().refused());
  module->launch(1, s.buffers(), checks.get());
  r = checks->take();
  EXPECT_EQ(r.what.kind, "tight limit");
  EXPECT_EQ(r.index, 99);
  device->release(s.memory);
}

TEST_F(Oneapi, ThreadsLaunchOneModule) {
  Graph g;
  Builder b(g, test::scalar_registry());
  const Values buffers{b.input(device_buffer(DType::i64, 1000), "x")};
  kernel(b, {.name = "increment", .extents = {1000}}, buffers,
         [&](const Body& w, ValuesIn i, ValuesIn p) { w.store(p[0], i[0], w.add(w.load(p[0], i[0]), w.i64(1))); });
  const auto module = device->compile(g);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      HostTensor x = counting(DType::i64, 1000);
      const Slab s = upload({x});
      for (int k = 0; k < 50; ++k) module->launch(0, s.buffers());
      device->download(x.mutable_data(), s.memory, s.offsets[0], x.bytes());
      for (std::int64_t i = 0; i < 1000; ++i) wrong[t] += x.get_i64(i) != i + 50;
      device->release(s.memory);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(Oneapi, RefusesTeamsThatAreTooLarge) {
  Graph g;
  Builder b(g, test::scalar_registry());
  const std::int64_t most = device->target().max_team_threads;
  kernel(b, {.name = "k", .policy = lir::Policy::team, .extents = {1}, .team = {most + 1}},
         {b.input(device_buffer(DType::i32, 1), "x")},
         [](const Body& w, ValuesIn i, ValuesIn p) { w.store(p[0], i[0], w.load(p[0], i[0])); });
  EXPECT_THROW(device->compile(g), DeviceError);
}

TEST_F(Oneapi, AProgramWithoutKernelsIsLegal) { EXPECT_NE(device->compile(Graph()), nullptr); }

}  // namespace
}  // namespace rlx
