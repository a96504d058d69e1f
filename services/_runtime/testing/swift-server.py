"""Runs a whole OpenStack Swift cluster, with its S3 interface, in one process. For tests.

Usage: python3 swift-server.py FOLDER ACCOUNT:USER SECRET

FOLDER must be empty. All data is stored in it. ACCOUNT:USER is the access key. The account, container, object and proxy
servers each listen on a free port of 127.0.0.1. When all of them are listening, the process prints the port of the S3
interface. It deletes FOLDER and exits when its standard input is closed, which also happens when its parent ends.
"""

import os
import shutil
import sys

import eventlet
from eventlet import wsgi
from eventlet.hubs import trampoline
from swift.common import utils

folder, access_key, secret = sys.argv[1:]
account, user = access_key.split(":")
storage_servers = ("account", "container", "object")

utils.eventlet_monkey_patch()
with open(os.path.join(folder, "swift.conf"), "w") as conf:
    conf.write("[swift-hash]\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = one\ndefault = yes\n")
utils.set_swift_dir(folder)

# Imported only here, because these modules read swift.conf during their import.
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.wsgi import SwiftHttpProtocol, loadapp  # noqa: E402

defaults = f"""
[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
log_level = WARNING
"""

proxy = f"""
[pipeline:main]
pipeline = s3api tempauth proxy-server

[filter:s3api]
use = egg:swift#s3api
allow_multipart_uploads = false

[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret} .admin

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
"""


class EmptyCache:
    """Replaces memcached, which the authentication requires but does not use for signed requests."""

    def get(self, *_, **__):
        return None

    def set(self, *_, **__):
        pass

    def delete(self, *_, **__):
        pass


def create_device():
    device = os.path.join(folder, "device")
    os.mkdir(device)
    try:
        os.setxattr(device, "user.test", b"")
    except OSError as error:
        sys.exit(f"{folder} has no extended attributes ({error}): name a folder that has them in TMPDIR")


def write_ring(server, port):
    ring = RingBuilder(part_power=1, replicas=1, min_part_hours=0)
    ring.add_dev({"region": 1, "zone": 1, "weight": 1, "ip": "127.0.0.1", "port": port, "device": "device"})
    ring.rebalance()
    ring.get_ring().save(os.path.join(folder, server + ".ring.gz"))


def serve(server, socket, sections):
    path = os.path.join(folder, server + ".conf")
    with open(path, "w") as conf:
        conf.write(defaults + sections)
    application = loadapp(path, global_conf={"log_name": server})

    def with_cache(environ, start_response):
        environ["swift.cache"] = EmptyCache()
        return application(environ, start_response)

    eventlet.spawn(wsgi.server, socket, with_cache, protocol=SwiftHttpProtocol, log_output=False)


create_device()
for server in storage_servers:
    socket = eventlet.listen(("127.0.0.1", 0), backlog=256)
    write_ring(server, socket.getsockname()[1])
    serve(server, socket, f"[app:main]\nuse = egg:swift#{server}\n")
s3 = eventlet.listen(("127.0.0.1", 0), backlog=256)
serve("proxy", s3, proxy)

print(s3.getsockname()[1], flush=True)
trampoline(sys.stdin, read=True)
shutil.rmtree(folder, ignore_errors=True)
