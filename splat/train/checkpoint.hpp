// A run in a file: HDF5 with the state, the history, and what the run was of, which a run that goes on must be too.
#pragma once
#include <rlx/splat/train.hpp>

#include <string>

#include "splat/train/state.hpp"

namespace rlx::splat::train {

/// Options and capture as a text: an option a line, and hashes of cameras and images.
std::string description_of(const TrainOptions& resolved, const Capture& capture);

struct Checkpoint {
  State state;
  std::vector<HistoryEntry> history;
  double pending_loss = 0;  ///< Sum since the last entry.
};

void write_checkpoint(const std::string& path, const Checkpoint& c, const std::string& description);
/// Of a run with harmonics of `degree` and so many views. Throws FormatError where the file is none or its arrays do
/// not fit each other and the run, ArgumentError, naming the file, the option and both values, where its description is
/// another one.
Checkpoint read_checkpoint(const std::string& path, const std::string& description, int degree, std::int64_t views);

}  // namespace rlx::splat::train
