// The HTTP server of `rlx splat view`, on this machine alone.
#pragma once
#include "view_scene.hpp"

#include <functional>

namespace rlx::cli {

/// Serves the page and the scene on 127.0.0.1 until SIGINT or SIGTERM. `started` is called with the port (0 asks for
/// any) once requests are answered. The end waits for no client. Throws DeviceError where the port cannot be had, or
/// nobody can connect any more.
///
/// The paths are /, the files of the page, /status and /scene, each looked up in a table: no path reaches the file
/// system. Requests whose Host is another name than this machine's are refused, so that a page of another site cannot
/// read the scene through a name that it lets point here.
void serve_view(LiveScene& scene, int port, const std::function<void(int)>& started);

}  // namespace rlx::cli
