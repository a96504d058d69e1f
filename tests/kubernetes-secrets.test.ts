import { readFile } from "node:fs/promises";
import { getAllowedCallersOfService, type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { gatewayConfigSchema } from "@pragma/gateway/config";
import { buildInternalKeysVariableName } from "@pragma/runtime/config/internal-keys";
import { commonServiceConfigSchema } from "@pragma/runtime/config/runtime-config";
import { databaseUrlsSchema } from "@pragma/runtime/config/service-databases";
import { processConfigSchema } from "@pragma/runtime/process/run-process";
import { loadServiceDefinition } from "@pragma/services/definitions";
import { expect, it } from "vitest";
import type { z } from "zod";
import type { KubernetesManifest } from "./kubernetes/manifest.ts";
import { listContainers, listPods, renderInstallation } from "./kubernetes/manifests.ts";

/** The credentials of the object store, which the AWS SDK reads. */
const objectStoreKeys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

/** Whether the value of an environment variable is a secret, or a URL with a password. */
const isSecretVariable = (name: string) =>
  /(?:DATABASE|DATABASE_READ|DATABASE_TRANSACTION|NATS|REDIS)_URL$|_KEYS?$|_TOKEN$/.test(name) &&
  !/_MAX_KEYS$|_PER_KEY$/.test(name);

function listSecretVariables(...schemas: object[]): string[] {
  const names = schemas.flatMap((schema) => Object.keys((schema as z.ZodObject).shape));
  return [
    ...names.filter((name) => isSecretVariable(name)),
    // The AWS SDK, and not the schema, reads the credentials of an object store.
    ...(names.includes("OBJECT_STORE") ? objectStoreKeys : []),
  ];
}

async function listSecretsOfService(name: ServiceName): Promise<string[]> {
  const { config } = await loadServiceDefinition(name);
  const ownCalls = serviceNames.filter((service) => getAllowedCallersOfService(service).includes(name));
  return [
    ...listSecretVariables(processConfigSchema, commonServiceConfigSchema, config),
    ...getAllowedCallersOfService(name).map((caller) => buildInternalKeysVariableName(caller, name)),
    ...ownCalls.map((service) => buildInternalKeysVariableName(name, service)),
    // Only reporting has reads for which a replica is worth its delay.
  ].filter((variable) => variable !== "DATABASE_READ_URL" || name === "reporting");
}

async function listVariablesInFiles(pattern: RegExp, ...paths: string[]): Promise<string[]> {
  const texts = await Promise.all(paths.map((path) => readFile(new URL(`../deploy/${path}`, import.meta.url), "utf8")));
  return texts.flatMap((text) => [...text.matchAll(pattern)].map(([, variable = ""]) => variable));
}

/** Returns the secret variables that the programs in the containers of each part read. */
async function listSecretsReadByParts(): Promise<Record<string, string[]>> {
  const ofServices = serviceNames.map(async (name) => [name, await listSecretsOfService(name)] as const);
  const databases = listSecretVariables(databaseUrlsSchema);
  return {
    ...Object.fromEntries(await Promise.all(ofServices)),
    gateway: [
      ...listSecretVariables(processConfigSchema, gatewayConfigSchema),
      ...serviceNames.map((service) => buildInternalKeysVariableName("gateway", service)),
    ],
    portal: [],
    console: [],
    migrate: [...databases, "NATS_URL"],
    // A role that may only read and write the rows of a service cannot back up its tables.
    backup: [...databases.filter((name) => !isDatabaseUrlOfService(name)), ...objectStoreKeys],
    ops: [...databases, "NATS_URL", ...objectStoreKeys],
    nats: await listVariablesInFiles(/\$(NATS_PASSWORD_\w+)/g, "nats/users.conf", "kubernetes/pragma/values.yaml"),
    redis: await listVariablesInFiles(/\$(REDIS_PASSWORD_\w+)/g, "redis/users.acl"),
  };
}

const isDatabaseUrlOfService = (name: string) => name !== "DATABASE_URL" && !name.endsWith("_OWNER_DATABASE_URL");

/** Returns the secrets that the containers of each part get, as `secret/key`. */
function listSecretsOfParts(manifests: KubernetesManifest[]): Record<string, string[]> {
  const parts = manifests.filter((manifest) => listPods([manifest]).length > 0);
  return Object.fromEntries(
    parts.map((part) => {
      const keys = listContainers([part]).flatMap(({ env = [], envFrom = [] }) => {
        // A whole secret would also give the part keys that are added to it later.
        expect(envFrom.filter(({ secretRef }) => secretRef !== undefined)).toEqual([]);
        return env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
      });
      return [part.metadata.name, [...new Set(keys.map(({ name, key }) => `${name}/${key}`))].sort()];
    }),
  );
}

async function expectOnlySecretsInUse(manifests: KubernetesManifest[]): Promise<void> {
  const secretsOfParts = listSecretsOfParts(manifests);
  const keysOfParts = Object.entries(secretsOfParts).map(([part, secrets]) => [
    part,
    secrets.map((secret) => secret.split("/")[1]).sort(),
  ]);
  const expected = Object.entries(await listSecretsReadByParts()).map(([part, variables]) => [
    part,
    [...new Set(variables)].sort(),
  ]);
  expect(Object.fromEntries(keysOfParts)).toEqual(Object.fromEntries(expected));

  // No two parts share a secret, except the credentials of the object store, and the pod for operators' commands.
  const owners = new Map<string, string[]>();
  for (const [part, secrets] of Object.entries(secretsOfParts))
    for (const name of new Set(secrets.map((secret) => secret.split("/")[0] ?? "")))
      owners.set(name, [...(owners.get(name) ?? []), part]);
  const shared = [...owners].filter(([, parts]) => parts.length > 1).map(([name, parts]) => [name, parts.sort()]);
  expect(Object.fromEntries(shared)).toEqual({
    "pragma-objects": ["backup", "ops", "reporting", "till-ingest"],
    "pragma-migrate": ["migrate", "ops"],
  });
}

it("each part gets only the secrets that its configuration reads", async () => {
  await expectOnlySecretsInUse(await renderInstallation("production"));
});

it("the job that removes sandboxes gets the secrets of the pod for operators' commands", async () => {
  const secrets = listSecretsOfParts(await renderInstallation("managed servers"));
  expect(secrets["sandbox-removal"]).toEqual(secrets.ops);
});

it.each([
  ["a secret that the part does not use", { name: "pragma-jobs", key: "REDIS_URL" }],
  ["a secret of another part", { name: "pragma-jobs", key: "DATABASE_URL" }],
])("the test notices %s", async (_, secretKeyRef) => {
  const manifests = await renderInstallation("production");
  const accounts = manifests.filter(({ kind, metadata }) => kind === "Deployment" && metadata.name === "accounts");
  listContainers(accounts)[0]?.env?.push({ name: secretKeyRef.key, valueFrom: { secretKeyRef } });
  await expect(expectOnlySecretsInUse(manifests)).rejects.toThrow();
});

it("the test notices a secret that a part lacks", async () => {
  const manifests = await renderInstallation("production");
  const job = manifests.filter(({ kind, metadata }) => kind === "Job" && metadata.name === "migrate");
  listContainers(job)[0]?.env?.pop();
  await expect(expectOnlySecretsInUse(manifests)).rejects.toThrow();
});

it("the operator's Redis gets only its own secrets", async () => {
  const objects = (await renderInstallation("several namespaces")).filter(({ kind }) => kind.startsWith("Redis"));
  const keys = JSON.stringify(objects).match(/"name":"pragma-[^}]*"key":"[^"]*"/g) ?? [];
  expect([...new Set(keys)].sort()).toEqual([
    '"name":"pragma-redis","key":"REDIS_PASSWORD_MONITOR"',
    '"name":"pragma-redis","key":"REDIS_PASSWORD_OPERATOR"',
  ]);
  const volumes = JSON.stringify(objects).match(/"secretName":"[^"]*"/g) ?? [];
  expect([...new Set(volumes)].sort()).toEqual([
    '"secretName":"pragma-redis-tls"',
    '"secretName":"pragma-redis-users"',
  ]);
});
