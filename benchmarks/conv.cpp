// Convolutions of 8 images against oneDNN (weights in the form it likes best, when it is installed) and against the
// generated loop; and what kernels before and after a product or a convolution cost, when its call runs them and when
// they are steps of their own.
#include "benchmarks/bench.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <memory>
#include <string>

#if defined(RLX_BENCH_ONEDNN)
#include <oneapi/dnnl/dnnl.hpp>
#endif

using namespace rlx;

namespace {

struct Layer {
  std::string name;
  std::int64_t images, side, channels, features, window;
  std::int64_t pad() const { return window / 2; }
  TensorType input() const { return f32({images, side, side, channels}); }
  TensorType kernel() const { return f32({window, window, channels, features}); }
  TensorType output() const { return f32({images, side, side, features}); }
  double flops() const {
    return 2.0 * static_cast<double>(images * side * side * features * window * window * channels);
  }
};

HostTensor filled(const TensorType& t) {
  HostTensor x(t.dtype, constant_shape(t.shape));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    if (t.dtype == DType::i8) x.set_i64(i, i * 7919 % 251 - 125);
    else x.set_f64(i, static_cast<double>(i * 7919 % 1009) / 1009 - 0.5);
  }
  return x;
}

/// A program and its arguments; its results are used again.
class Run {
 public:
  Run(const runtime::Catalog& catalog, const std::vector<TensorType>& in, const std::function<Value(ValuesIn)>& f,
      const CompileOptions& options = {}) {
    Graph g("layer");
    Builder b(g, catalog.operators);
    Values x;
    for (std::size_t i = 0; i < in.size(); ++i) {
      x.push_back(b.input(in[i], "x" + std::to_string(i)));
      arguments_.push_back(filled(in[i]));
    }
    b.output(f(x), "y");
    program_ = std::make_unique<runtime::Executable>(runtime::open_device("cpu"), g, catalog, options);
  }
  void operator()() { out_ = program_->run(arguments_, std::move(out_)); }

 private:
  std::unique_ptr<runtime::Executable> program_;
  HostValues arguments_, out_;
};

Value layer(const Layer& l, Value x, Value k) {
  return ops::conv(x, k, {.low = {l.pad(), l.pad()}, .high = {l.pad(), l.pad()}});
}
Value bias_relu(Value y, Value bias) {
  return ops::max(ops::add(y, ops::broadcast_to(bias, y.shape())), ops::zeros_like(y));
}

#if defined(RLX_BENCH_ONEDNN)
class OneDnn {
 public:
  explicit OneDnn(const Layer& l) {
    using tag = dnnl::memory::format_tag;
    const auto md = [](dnnl::memory::dims d, tag t) {
      return dnnl::memory::desc(std::move(d), dnnl::memory::data_type::f32, t);
    };
    const dnnl::memory::desc x = md({l.images, l.channels, l.side, l.side}, tag::nhwc),
                             k = md({l.features, l.channels, l.window, l.window}, tag::any),
                             y = md({l.images, l.features, l.side, l.side}, tag::nhwc);
    const dnnl::convolution_forward::desc d(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, x, k,
                                            y, {1, 1}, {l.pad(), l.pad()}, {l.pad(), l.pad()});
    const dnnl::convolution_forward::primitive_desc p(d, engine_);
    x_ = dnnl::memory(p.src_desc(), engine_), k_ = dnnl::memory(p.weights_desc(), engine_),
    y_ = dnnl::memory(p.dst_desc(), engine_);
    for (dnnl::memory* m : {&x_, &k_}) {
      auto* data = static_cast<float*>(m->get_data_handle());
      for (std::size_t i = 0; i < m->get_desc().get_size() / 4; ++i)
        data[i] = static_cast<float>(i * 7919 % 1009) / 1009 - 0.5f;
    }
    run_ = dnnl::convolution_forward(p);
  }
  void operator()() {
    run_.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, k_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory x_, k_, y_;
  dnnl::convolution_forward run_;
};
#endif

void against(const std::string& name, double work, int repeats, const std::function<void()>& ours,
             const std::function<void()>& rival, double goal) {
  const bench::Pair t = bench::alternating_seconds(repeats, ours, rival);
  bench::row(name, work / t.first * 1e-9, work / t.second * 1e-9, "GFLOP/s", t.second / t.first, goal);
}

void measure_layer(const runtime::Catalog& catalog, const Layer& l) {
  CompileOptions generated;
  generated.per_operator["conv"] = Preference::force_common;
  const auto plain = [&](ValuesIn x) { return layer(l, x[0], x[1]); };
  Run ours(catalog, {l.input(), l.kernel()}, plain), loop(catalog, {l.input(), l.kernel()}, plain, generated);
  against(l.name + ", generated loop", l.flops(), 3, [&] { ours(); }, [&] { loop(); }, 1);
#if defined(RLX_BENCH_ONEDNN)
  OneDnn rival(l);
  against(l.name + ", oneDNN", l.flops(), 15, [&] { ours(); }, [&] { rival(); }, 0.9);
#endif
  const auto more = [&](ValuesIn x) { return bias_relu(layer(l, x[0], x[1]), x[2]); };
  const std::vector<TensorType> in{l.input(), l.kernel(), f32({l.features})};
  Run joined(catalog, in, more),
      after(catalog, {l.output(), f32({l.features})}, [](ValuesIn x) { return bias_relu(x[0], x[1]); });
  against(l.name + ", bias and relu: separate steps", l.flops(), 15, [&] { joined(); }, [&] { ours(), after(); }, 1);
}

void measure_epilogue(const runtime::Catalog& catalog, std::int64_t k) {
  const std::int64_t n = 2048;
  const auto f = [&](ValuesIn x) { return bias_relu(ops::matmul(x[0], x[1]), x[2]); };
  const std::vector<TensorType> in{f32({n, k}), f32({k, n}), f32({n})};
  Run joined(catalog, in, f), product(catalog, {in[0], in[1]}, [](ValuesIn x) { return ops::matmul(x[0], x[1]); }),
      after(catalog, {f32({n, n}), f32({n})}, [](ValuesIn x) { return bias_relu(x[0], x[1]); });
  against(
      "matmul 2048x2048x" + std::to_string(k) + ", bias and relu: separate steps", 2.0 * static_cast<double>(n * n * k),
      15, [&] { joined(); }, [&] { product(), after(); }, 1);
}

/// Weights that are stored narrow, made wide as they are packed; against a step of their own that stores them wide.
void measure_weights(const runtime::Catalog& catalog, std::int64_t rows) {
  CompileOptions apart;
  apart.fuse = false;
  const std::int64_t n = 4096;
  const double work = 2.0 * static_cast<double>(rows * n * n);
  const auto widened = [](ValuesIn x) { return ops::matmul(x[0], ops::convert(x[1], DType::f32)); };
  const auto scaled = [n](ValuesIn x) {
    return ops::matmul(x[0], ops::mul(ops::convert(x[1], DType::f32), ops::broadcast_to(x[2], {n, n})));
  };
  const auto measure = [&](const std::string& weights, const std::vector<TensorType>& in, const auto& f) {
    Run joined(catalog, in, f), separate(catalog, in, f, apart);
    against(
        "matmul " + std::to_string(rows) + "x4096x4096, weights from " + weights + ": separate steps", work, 7,
        [&] { joined(); }, [&] { separate(); }, 1);
  };
  measure("bf16", {f32({rows, n}), tensor(DType::bf16, {n, n})}, widened);
  measure("i8 and scales", {f32({rows, n}), tensor(DType::i8, {n, n}), f32({n})}, scaled);
}

}  // namespace

int main(int argc, char** argv) {
  const runtime::Catalog catalog = make_catalog();
  for (const Layer& l :
       {Layer{"conv 3x3 64 to 64, 56x56", 8, 56, 64, 64, 3}, Layer{"conv 1x1 256 to 64, 56x56", 8, 56, 256, 64, 1},
        Layer{"conv 3x3 256 to 256, 14x14", 8, 14, 256, 256, 3}})
    bench::add(l.name, [=, &catalog] { measure_layer(catalog, l); });
  for (const std::int64_t k : {64, 256, 1024})
    bench::add("matmul 2048x2048x" + std::to_string(k), [=, &catalog] { measure_epilogue(catalog, k); });
  for (const std::int64_t rows : {64, 512})
    bench::add("matmul " + std::to_string(rows) + "x4096x4096", [=, &catalog] { measure_weights(catalog, rows); });
  return bench::run(argc, argv);
}
