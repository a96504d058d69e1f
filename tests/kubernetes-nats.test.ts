import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compareVersions, findInstalledServerBinaries } from "../deploy/local/find-servers.js";
import { createTemporaryDataFolder } from "../deploy/local/servers.js";
import type { KubernetesManifest } from "./kubernetes/manifest.ts";
import { listPods, renderInstallation } from "./kubernetes/manifests.ts";

const [natsServer] = findInstalledServerBinaries("nats");

/** Removes the option that the installed version does not know, if it is older than the one of the chart. */
const withSupportedOptions = (config: string) =>
  compareVersions(natsServer?.version ?? "", "2.10") >= 0
    ? config
    : config.replace(/,?\s*"sync_interval": "always"/, "");

/** Writes the files that a pod of NATS has, and runs its init container. Returns a check of the configuration. */
async function prepareNode(change: (config: string) => string = (config) => config) {
  const folder = createTemporaryDataFolder("kubernetes-nats");
  const manifests = await renderInstallation("production");
  const dataOf = (name: string) =>
    manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name);
  for (const name of ["nats-config", "nats-users", "nats-routes"]) mkdirSync(join(folder, name));
  const config = dataOf("nats-config")?.data?.["nats.conf"] ?? "";
  expect(config).toMatch(/"sync_interval": "always"/);
  writeFileSync(join(folder, "nats-config", "nats.conf"), change(withSupportedOptions(config)));
  writeFileSync(join(folder, "nats-users", "users.conf"), dataOf("pragma-nats-users")?.data?.["users.conf"] ?? "");
  const isNats = ({ kind, metadata }: KubernetesManifest) => kind === "StatefulSet" && metadata.name === "nats";
  const [pod] = listPods(manifests.filter(isNats));
  const names = pod?.containers[0]?.env?.map(({ name }) => name) ?? [];
  const env = Object.fromEntries(names.map((name) => [name, `${name.toLowerCase().replaceAll("_", "")}1`]));
  const [init] = pod?.initContainers ?? [];
  const script = init?.command?.at(-1)?.replaceAll("/etc/", `${folder}/`) ?? "";
  expect(spawnSync("sh", ["-euc", script], { env: { PATH: process.env.PATH, ...env } }).status).toBe(0);
  return () => {
    const args = ["-t", "-c", join(folder, "nats-config", "nats.conf")];
    const { status, stderr } = spawnSync(natsServer?.path ?? "", args, { encoding: "utf8", env });
    return { status, stderr };
  };
}

it.runIf(natsServer)("nats-server accepts the configuration, with the users and the routes", async () => {
  const check = await prepareNode();
  expect(check()).toMatchObject({ status: 0, stderr: expect.stringMatching(/is valid/) });
});

it.runIf(natsServer)("nats-server rejects a configuration whose users are missing", async () => {
  const check = await prepareNode((config) => config.replace("nats-users", "other-users"));
  expect(check().status).not.toBe(0);
});
