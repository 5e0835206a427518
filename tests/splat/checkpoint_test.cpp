// Checkpoints whose arrays are not what a run of these options has: each array in turn absent, of another type, of
// another length and of another rank.
#include "training.hpp"

#include <rlx/formats/hdf5.hpp>
#include <rlx/ir/error.hpp>

#include <map>

namespace rlx::splat::testing {
namespace {

HostTensor with_shape(const HostTensor& x, DType t, std::vector<std::int64_t> shape) {
  HostTensor out(t, std::move(shape));
  for (std::int64_t i = 0; i < std::min(x.numel(), out.numel()); ++i) out.set_f64(i, x.get_f64(i));
  return out;
}

TEST(Checkpoint, EveryArrayIsChecked) {
  const Folder folder;
  const TrainOptions o = small_options();
  const Capture c = small_capture();
  const std::string path = folder / "checkpoint.h5";
  Trainer(c, o).save(path);
  std::map<std::string, HostTensor> good;
  for (const std::string& name : formats::list_hdf5(path)) good[name] = formats::read_hdf5(path, name);
  ASSERT_GT(good.size(), 25u);
  const auto refused = [&](const std::map<std::string, HostTensor>& sets, const std::string& what) {
    formats::write_hdf5(path, sets);
    try {
      Trainer(c, o, path);
      ADD_FAILURE() << "taken: " << what;
    } catch (const FormatError& e) {
      EXPECT_EQ(e.file(), path) << what;
    } catch (const ArgumentError& e) {  // Of the description alone, whose text is compared.
      EXPECT_NE(what.find("/description"), std::string::npos) << what << ": " << e.what();
    }
  };
  for (const auto& [name, tensor] : good) {
    auto sets = good;
    sets.erase(name);
    refused(sets, name + " absent");
    sets[name] = with_shape(tensor, tensor.dtype() == DType::f64 ? DType::f32 : DType::f64, tensor.shape());
    refused(sets, name + " of another type");
    std::vector<std::int64_t> shape = tensor.shape();
    ++shape[0];
    sets[name] = with_shape(tensor, tensor.dtype(), shape);
    refused(sets, name + " longer");
    shape = tensor.shape();
    shape.push_back(1);
    sets[name] = with_shape(tensor, tensor.dtype(), shape);
    refused(sets, name + " of another rank");
  }
  // What agrees with itself and not with the run: other views, harmonics of another degree, counts beyond the arrays.
  auto sets = good;
  for (const char* folder : {"/values/", "/first/", "/second/"}) {
    for (auto& [name, tensor] : sets)
      if (name.starts_with(folder) && tensor.shape()[0] == good["/visits"].numel() && tensor.rank() == 2) {
        std::vector<std::int64_t> shape = tensor.shape();
        ++shape[0];
        tensor = with_shape(tensor, tensor.dtype(), shape);
      }
  }
  sets["/visits"] = HostTensor(DType::f32, {good["/visits"].numel() + 1});
  refused(sets, "more views");
  sets = good;
  for (const char* folder : {"/values/harmonics", "/first/harmonics", "/second/harmonics"}) {
    const HostTensor& x = good.at(folder);
    sets[folder] = with_shape(x, x.dtype(), {x.shape()[0], x.shape()[1] + 1, 3});
  }
  refused(sets, "harmonics of another degree");
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 62}) {
    sets = good;
    sets["/run"].set_i64(2, count);
    refused(sets, "a count of " + std::to_string(count));
  }
  sets = good;
  sets["/run"].set_i64(1, -1);
  refused(sets, "a negative step");
}

}  // namespace
}  // namespace rlx::splat::testing
