#include "splat/train/checkpoint.hpp"

#include <rlx/formats/hdf5.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/type.hpp>

#include <algorithm>
#include <cstring>

#include "splat/train/description.hpp"

namespace rlx::splat::train {

namespace {

constexpr std::int64_t version = 4;

HostTensor bytes_of(const std::string& text) {
  HostTensor t(DType::u8, {static_cast<std::int64_t>(text.size())});
  if (!text.empty()) std::memcpy(t.mutable_data(), text.data(), text.size());
  return t;
}

HostTensor integers_of(const std::vector<std::int64_t>& values) {
  HostTensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.as_mutable<std::int64_t>().begin());
  return t;
}

/// "f32[n,3]", where -1 stands for any length.
std::string type_text(DType t, const std::vector<std::int64_t>& shape) {
  Shape dims;
  for (const std::int64_t d : shape) dims.push_back(d < 0 ? Dim::symbol("n") : Dim(d));
  return to_string(Type(tensor(t, std::move(dims))));
}

/// The datasets of a checkpoint; what is not there, not of the type, or not what was written is an error that names it.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& path) : path_(path) {
    read("/run");  // Before the rest of a file that may be anything.
    const HostTensor run = (*this)("/run", DType::i64, {3});
    if (run.get_i64(0) != version)
      fail("a checkpoint of version " + std::to_string(run.get_i64(0)) + ", expected " + std::to_string(version));
    for (const std::string& name : formats::list_hdf5(path)) read(name);
    if ((*this)(digest_name, DType::u64, {1}) != digest_of(sets_))
      fail("a damaged checkpoint: its content is not what was written");
  }

  [[noreturn]] void fail(const std::string& what) const { throw FormatError(path_, 0, what); }
  HostTensor operator()(const std::string& name, DType t, const std::vector<std::int64_t>& shape) const {
    const auto found = sets_.find(name);
    if (found == sets_.end()) fail("no checkpoint of training: it has no dataset \"" + name + "\"");
    const HostTensor& x = found->second;
    bool fits = x.dtype() == t && x.rank() == static_cast<int>(shape.size());
    for (std::size_t k = 0; fits && k < shape.size(); ++k) fits = shape[k] < 0 || shape[k] == x.shape()[k];
    if (!fits)
      fail("the dataset \"" + name + "\" of a checkpoint is " + type_text(x.dtype(), x.shape()) + ", expected " +
           type_text(t, shape));
    return x;
  }

 private:
  void read(const std::string& name) try {
    sets_[name] = formats::read_hdf5(path_, name);
  } catch (const ArgumentError& e) {  // It is not there, or its name is damaged.
    fail("no checkpoint of training: " + std::string(e.what()));
  }

  std::string path_;
  Datasets sets_{};
};

std::string dataset(const char* folder, const char* name) { return std::string("/") + folder + "/" + name; }

}  // namespace

HostTensor digest_of(const Datasets& sets) {
  std::uint64_t hash = first_hash;
  for (const auto& [name, tensor] : sets) {
    if (name == digest_name) continue;
    for (const char x : name) hash = mixed(hash, static_cast<unsigned char>(x));
    hash = mixed(hash, tensor.content_hash());
  }
  HostTensor t(DType::u64, {1});
  t.as_mutable<std::uint64_t>()[0] = hash;
  return t;
}

void write_checkpoint(const std::string& path, const Checkpoint& c, const TrainOptions& resolved,
                      const Capture& capture) {
  const State& s = c.state;
  Datasets sets;
  for (std::size_t g = 0; g < groups; ++g) {
    sets[dataset("values", group_names[g])] = s.values[g];
    sets[dataset("first", group_names[g])] = s.first[g];
    sets[dataset("second", group_names[g])] = s.second[g];
  }
  for (std::size_t k = 0; k < statistics; ++k) sets[dataset("statistics", statistic_names[k])] = s.statistic[k];
  sets["/visits"] = s.visits;
  sets["/run"] = integers_of({version, s.step, s.count});
  sets["/description"] = bytes_of(description_of(resolved, capture));
  std::vector<double> loss{c.pending_loss};
  std::vector<std::int64_t> steps, counts;
  for (const HistoryEntry& h : c.history)
    loss.push_back(h.loss), steps.push_back(h.step), counts.push_back(h.gaussians);
  sets["/history/loss"] = HostTensor::from(DType::f64, {static_cast<std::int64_t>(loss.size())}, loss);
  sets["/history/steps"] = integers_of(steps);
  sets["/history/gaussians"] = integers_of(counts);
  sets[digest_name] = digest_of(sets);
  formats::write_hdf5(path, sets);
}

Checkpoint read_checkpoint(const std::string& path, const TrainOptions& resolved, const Capture& capture) {
  const CheckpointReader read(path);
  const HostTensor run = read("/run", DType::i64, {3}), text = read("/description", DType::u8, {-1});
  compare_descriptions(path,
                       std::string(reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(text.numel())),
                       description_of(resolved, capture));
  Checkpoint c;
  State& s = c.state;
  s.step = run.get_i64(1);
  s.count = run.get_i64(2);
  const auto views = static_cast<std::int64_t>(capture.size());
  const std::int64_t bands = formats::sh_coefficients(resolved.degree) - 1;
  s.visits = read("/visits", DType::f32, {views});
  std::int64_t capacity = -1;
  const std::vector<std::int64_t> rows[groups] = {{3}, {4}, {3}, {}, {1, 3}, {bands, 3}, {6}, {12}};
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<std::int64_t> shape{g < scene_groups ? capacity : views};
    shape.insert(shape.end(), rows[g].begin(), rows[g].end());
    s.values[g] = read(dataset("values", group_names[g]), DType::f32, shape);
    capacity = s.values[means].shape()[0];
    shape[0] = s.values[g].shape()[0];
    s.first[g] = read(dataset("first", group_names[g]), DType::f32, shape);
    s.second[g] = read(dataset("second", group_names[g]), DType::f32, shape);
  }
  for (std::size_t k = 0; k < statistics; ++k)
    s.statistic[k] = read(dataset("statistics", statistic_names[k]), DType::f32, {capacity});
  if (s.step < 0 || s.step > resolved.steps || s.count < 1 || s.count > capacity)
    read.fail("a checkpoint whose numbers contradict each other: step " + std::to_string(s.step) + " of " +
              std::to_string(resolved.steps) + ", " + counted(s.count, "Gaussian") + " in " +
              counted(capacity, "place"));
  const HostTensor steps = read("/history/steps", DType::i64, {-1});
  const std::int64_t n = steps.numel();
  const HostTensor counts = read("/history/gaussians", DType::i64, {n}),
                   loss = read("/history/loss", DType::f64, {n + 1});
  c.pending_loss = loss.get_f64(0);
  for (std::int64_t i = 0; i < n; ++i) c.history.push_back({steps.get_i64(i), loss.get_f64(i + 1), counts.get_i64(i)});
  return c;
}

}  // namespace rlx::splat::train
