#include "splat/train/description.hpp"

#include <rlx/ir/error.hpp>

#include <cstring>
#include <sstream>

#include "splat/train/options.hpp"

namespace rlx::splat::train {

namespace {

std::uint64_t hash_of(const Capture& c) {
  std::uint64_t hash = first_hash;
  const auto number = [&](double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    hash = mixed(hash, bits);
  };
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (const char x : c.pose(i).name) hash = mixed(hash, static_cast<unsigned char>(x));
    for (const std::int64_t size : c.images[i].shape()) hash = mixed(hash, static_cast<std::uint64_t>(size));
    for (const double x : c.camera(i).parameters) number(x);
    for (const double x : c.pose(i).rotation) number(x);
    for (const double x : c.pose(i).translation) number(x);
    hash = mixed(hash, c.images[i].content_hash());
  }
  const formats::SparsePoints& points = c.reconstruction.points;
  return mixed(mixed(hash, points.positions.content_hash()), points.colours.content_hash());
}

}  // namespace

std::string description_of(const TrainOptions& resolved, const Capture& capture) {
  std::string text;
  const auto add = [&](const std::string& name, const auto& value) { text += name + " = " + value_text(value) + "\n"; };
  for_each_option(resolved, [&](const OptionAt& at, const auto& value) { add(at.name, value); });
  add("views", capture.size());
  add("capture", hash_of(capture));
  return text;
}

void compare_descriptions(const std::string& path, const std::string& stored, const std::string& wanted) {
  std::istringstream a(stored), b(wanted);
  for (std::string x, y;;) {
    const bool more_a = static_cast<bool>(std::getline(a, x)), more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a && !more_b) return;
    if (!more_a) x = "nothing";
    if (!more_b) y = "nothing";
    if (x != y) throw ArgumentError(path + " is a checkpoint of another run: it has " + x + ", expected " + y);
  }
}

}  // namespace rlx::splat::train
