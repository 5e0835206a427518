// What a run that goes on from a checkpoint makes, and checkpoints that are refused: those of other runs, arrays that
// are not what a run of these options has - each in turn absent, of another type, of another length and of another rank
// - and bytes that are not those which were written.
#include "training.hpp"

#include <rlx/formats/hdf5.hpp>
#include <rlx/ir/error.hpp>

#include <fstream>
#include <map>
#include <random>

#include "splat/train/checkpoint.hpp"

namespace rlx::splat::testing {
namespace {

HostTensor with_shape(const HostTensor& x, DType t, std::vector<std::int64_t> shape) {
  HostTensor out(t, std::move(shape));
  for (std::int64_t i = 0; i < std::min(x.numel(), out.numel()); ++i) out.set_f64(i, x.get_f64(i));
  return out;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A run that has done nothing yet, and its checkpoint.
struct SavedRun {
  const Folder folder{};
  const TrainOptions options = small_options();
  const Capture capture = small_capture();
  const std::string path = folder / "checkpoint.h5";
  SavedRun() { Trainer(capture, options).save(path); }
};

class Resumed : public ::testing::TestWithParam<Densification> {};

TEST_P(Resumed, MakesTheSameBits) {
  const Folder folder;
  TrainOptions o = small_options(GetParam());
  o.random_background = true;
  o.exposures = o.refine_poses = true;
  o.adaptive.gradient = 5e-5;
  o.adaptive.reset_every = 25;
  o.refine_until = 50;  // So also three times after the checkpoint.
  const Capture c = small_capture();
  Trainer whole(c, o);
  train_to(whole, 23);
  whole.save(folder / "checkpoint.h5");
  const std::int64_t then = whole.gaussians();
  train_to(whole, 60);
  Trainer second(c, o, folder / "checkpoint.h5");
  EXPECT_EQ(second.steps_done(), 23);
  train_to(second, 60);
  expect_same(whole.cloud(), second.cloud());
  EXPECT_EQ(whole.render(1), second.render(1));
  if (GetParam() != Densification::fixed) {
    EXPECT_NE(then, 200);
    EXPECT_NE(whole.gaussians(), then);
  }
  // And what is saved then is the same file of numbers.
  whole.save(folder / "a.h5"), second.save(folder / "b.h5");
  for (const std::string& name : formats::list_hdf5(folder / "a.h5"))
    EXPECT_EQ(formats::read_hdf5(folder / "a.h5", name), formats::read_hdf5(folder / "b.h5", name)) << name;
}
INSTANTIATE_TEST_SUITE_P(Checkpoint, Resumed,
                         ::testing::Values(Densification::fixed, Densification::adaptive, Densification::mcmc),
                         [](const auto& p) {
                           return std::string(p.param == Densification::mcmc       ? "Mcmc"
                                              : p.param == Densification::adaptive ? "Adaptive"
                                                                                   : "Fixed");
                         });

TEST(Checkpoint, OtherRunsAndCutFilesAreRefused) {
  const SavedRun run;
  const TrainOptions& o = run.options;
  const Capture& c = run.capture;
  const std::string& path = run.path;
  const auto refused = [&](const Capture& capture, const TrainOptions& options, const std::string& what) {
    try {
      Trainer(capture, options, path);
      ADD_FAILURE() << "taken, in spite of: " << what;
    } catch (const ArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find(path), 0u) << e.what();
    }
  };
  TrainOptions other = o;
  other.ssim = 0.5;
  refused(c, other, "it has ssim = 0.2");
  other = o;
  other.rates.scales *= 2;
  refused(c, other, "it has rates.scales = ");
  Capture renamed = c;
  renamed.reconstruction.images[0].name += "_";
  refused(renamed, o, "capture = ");
  refused(small_capture(0.02, 1), o, "capture = ");
  const std::string bytes = content_of(path);
  for (const std::size_t length : {std::size_t{0}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(path, std::ios::binary) << bytes.substr(0, length);
    EXPECT_THROW(Trainer(c, o, path), FormatError) << length;
  }
  formats::write_hdf5(path, {{"/run", HostTensor(DType::i64, {3})}});
  EXPECT_THROW(Trainer(c, o, path), FormatError);
}

TEST(Checkpoint, EveryArrayIsChecked) {
  const SavedRun run;
  const TrainOptions& o = run.options;
  const Capture& c = run.capture;
  const std::string& path = run.path;
  train::Datasets good;
  for (const std::string& name : formats::list_hdf5(path)) good[name] = formats::read_hdf5(path, name);
  ASSERT_GT(good.size(), 25u);
  const auto refused = [&](train::Datasets sets, const std::string& what) {
    if (!what.starts_with(train::digest_name)) sets[train::digest_name] = train::digest_of(sets);
    formats::write_hdf5(path, sets);
    try {
      Trainer(c, o, path);
      ADD_FAILURE() << "taken: " << what;
    } catch (const FormatError& e) {
      EXPECT_EQ(e.file(), path) << what;
      if (what == "/values/means longer") {
        EXPECT_NE(std::string(e.what()).find("\"/first/means\" of a checkpoint is f32[256,3], expected f32[257,3]"),
                  std::string::npos)
            << e.what();
      }
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
  sets["/run"].set_i64(1, o.steps + 1);
  refused(sets, "a step beyond the last");
}

TEST(Checkpoint, ChangedBytesAreRefused) {
  const SavedRun run;
  const TrainOptions& o = run.options;
  const Capture& c = run.capture;
  const std::string& path = run.path;
  const formats::GaussianCloud cloud = Trainer(c, o).cloud();
  const std::string bytes = content_of(path);
  std::mt19937 random(5);
  int refused = 0;
  constexpr int tries = 200;
  for (int k = 0; k < tries; ++k) {
    const std::size_t at = random() % bytes.size();
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random() % 255));
    std::ofstream(path, std::ios::binary) << changed;
    try {
      // What HDF5 leaves between its objects may be anything.
      expect_same(Trainer(c, o, path).cloud(), cloud);
    } catch (const FormatError& e) {
      EXPECT_EQ(std::string(e.what()).find(path), 0u) << at << ": " << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, tries / 2);
}

}  // namespace
}  // namespace rlx::splat::testing
