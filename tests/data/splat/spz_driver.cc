// spz_driver IN.ply OUT.spz VERSION: packs; spz_driver IN.spz OUT.ply: unpacks; both with the axes of PLY outside.
#include "load-spz.h"
#include <cstdlib>
#include <string>
int main(int argc, char** argv) {
  if (argc == 4) {
    spz::PackOptions p; p.version = std::atoi(argv[3]); p.from = spz::CoordinateSystem::RDF;
    spz::UnpackOptions u; u.to = spz::CoordinateSystem::RDF;
    return spz::saveSpz(spz::loadSplatFromPly(argv[1], u), p, argv[2]) ? 0 : 1;
  }
  spz::UnpackOptions u; u.to = spz::CoordinateSystem::RDF;
  spz::PackOptions p; p.from = spz::CoordinateSystem::RDF;
  return spz::saveSplatToPly(spz::loadSpz(argv[1], u), p, argv[2]) ? 0 : 1;
}
