# SPDX-License-Identifier: Apache-2.0
"""Prints the operations of a profile that TensorFlow has written, an oracle for ours: name and duration in
nanoseconds, one in a line. `tensorflow_profile.py FOLDER`"""

import glob
import sys

from tensorflow.tsl.profiler.protobuf import xplane_pb2


def main():
    (path,) = glob.glob(sys.argv[1] + "/**/*.xplane.pb", recursive=True)
    space = xplane_pb2.XSpace()
    with open(path, "rb") as file:
        space.ParseFromString(file.read())
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                print(event.duration_ps // 1000, plane.event_metadata[event.metadata_id].name)


if __name__ == "__main__":
    main()
