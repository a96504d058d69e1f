import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canInstallDebianPackages, installDebianPackagesWithApt } from "../deploy/local/debian-packages.js";
import { findFreePort } from "../deploy/local/free-port.js";
import { launchLocalServer } from "../deploy/local/run-server.js";
import { BenchmarkSkippedError } from "./benchmark.ts";
import { printBenchServerError } from "./report-error.ts";

/** An nginx proxy with one worker process, started for one benchmark. */
export interface BenchNginxProxy {
  url: string;
  /** The process id of the master process, which is the parent of the worker process. */
  pid: number;
  stop(): Promise<void>;
}

interface NginxOptions {
  folder: string;
  /** The URL that requests are forwarded to. */
  upstream: string;
}

/**
 * Starts nginx as a proxy. Like the gateway, it keeps client and upstream connections alive, buffers a whole report in
 * memory, and logs one line per request.
 *
 * @throws BenchmarkSkippedError if nginx is not installed on this machine and cannot be installed.
 */
export async function startBenchNginxProxy({ folder, upstream }: NginxOptions): Promise<BenchNginxProxy> {
  const command = await findNginx();
  mkdirSync(folder, { recursive: true });
  const port = await findFreePort();
  const file = join(folder, "nginx.conf");
  writeFileSync(file, nginxConfiguration({ folder, port, upstream: new URL(upstream).host }));
  const { pid, stop } = await launchLocalServer({
    name: "nginx",
    logFile: join(folder, "server.log"),
    port,
    log: printBenchServerError,
    command,
    args: ["-p", folder, "-c", file, "-e", join(folder, "error.log")],
    isReady: async () => {
      try {
        await fetch(`http://127.0.0.1:${port}/`);
        return true;
      } catch {
        return false;
      }
    },
  });
  return { url: `http://127.0.0.1:${port}`, pid, stop };
}

const nginxPaths = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"];

async function findNginx(): Promise<string> {
  const find = () => nginxPaths.find((path) => existsSync(path));
  const existing = find();
  if (existing) return existing;
  if (!canInstallDebianPackages())
    throw new BenchmarkSkippedError(
      "nginx is not installed on this machine. Install nginx (Debian: apt-get install nginx-light).",
    );
  await installDebianPackagesWithApt("Installing nginx with apt-get", ["nginx"]);
  const installed = find();
  if (!installed) throw new BenchmarkSkippedError("nginx was installed, but not found at the usual paths.");
  return installed;
}

function nginxConfiguration({ folder, port, upstream }: NginxOptions & { port: number }): string {
  return `
${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
events { worker_connections 1024; }
http {
  access_log ${join(folder, "access.log")} combined;
  client_body_temp_path ${join(folder, "body")};
  proxy_temp_path ${join(folder, "proxy")};
  fastcgi_temp_path ${join(folder, "fastcgi")};
  uwsgi_temp_path ${join(folder, "uwsgi")};
  scgi_temp_path ${join(folder, "scgi")};
  keepalive_requests 100000000;
  proxy_buffer_size 16k;
  proxy_buffers 8 32k;
  proxy_busy_buffers_size 64k;
  proxy_max_temp_file_size 0;
  upstream service {
    server ${upstream};
    keepalive 64;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}
