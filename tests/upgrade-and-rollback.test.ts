import { randomUUID } from "node:crypto";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../deploy/local/free-port.js";
import {
  type ExtractedRelease,
  extractRelease,
  findLastRelease,
  isReleaseAvailable,
} from "../deploy/local/testing/released-version.js";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { startTestLoadBalancer, type TestLoadBalancer, type TestLoadBalancerTarget } from "./harness/load-balancer.ts";
import { type PragmaProcessUnderTest, preparePragmaProcessUnderTest } from "./harness/pragma-process.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";
import { startTestTrafficClients, type TestTrafficClients, testTrafficApiKeyScopes } from "./traffic/client-traffic.ts";

/** How long the clients send requests in each phase, in milliseconds. */
const phaseMs = Number(process.env.UPGRADE_PHASE_SECONDS ?? 3) * 1000;
/** Undefined before the first release, so that there is nothing to upgrade, and in a copy without history. */
const lastRelease = await findAvailableRelease();

async function findAvailableRelease() {
  const release = await findLastRelease();
  return release && (await isReleaseAvailable(release)) ? release : undefined;
}

/** An installation of one version, in one process. */
interface Version {
  process: PragmaProcessUnderTest;
  target: TestLoadBalancerTarget;
}

let environment: IsolatedTestEnvironment;
let extracted: ExtractedRelease;
let previous: Version;
let current: Version;
let balancer: TestLoadBalancer;
let product: PragmaUnderTestAccess;

async function prepareVersion(variables: Record<string, string>, nodeArguments?: readonly string[]): Promise<Version> {
  const port = await findFreePort();
  const process = await preparePragmaProcessUnderTest("all", { ...variables, PORT: String(port) }, {}, nodeArguments);
  const isReady = async () => (await fetch(`${process.opsUrl}/ready`, { signal: AbortSignal.timeout(10_000) })).ok;
  return { process, target: { port, isReady } };
}

beforeAll(async () => {
  if (!lastRelease) return;
  environment = await createIsolatedTestEnvironment({
    SHUTDOWN_DELAY_SECONDS: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    WEBHOOK_HOST_RATE_PER_SECOND: "10000",
    WEBHOOK_HOST_BURST: "10000",
  });
  extracted = await extractRelease(lastRelease);
  const adminKey = `admin-key-of-a-test-${randomUUID()}`;
  const shared = { ...environment.variables, PRAGMA_ADMIN_KEY: adminKey };
  previous = await prepareVersion(shared, extracted.nodeArguments);
  current = await prepareVersion(shared);
  balancer = await startTestLoadBalancer([previous.target, current.target]);
  product = { url: `http://127.0.0.1:${balancer.port}`, adminKey };
}, 300_000);
afterAll(async () => {
  for (const traffic of groups) await traffic.stop();
  for (const traffic of groups) await traffic.close();
  balancer?.close();
  for (const version of [previous, current]) await version?.process.kill();
  await environment?.remove();
  await extracted?.remove();
}, 240_000);

/** All clients, each group with its own location. */
const groups: TestTrafficClients[] = [];

/** Starts clients. Each of them keeps its connection, until the version that it uses stops. */
async function startClients(): Promise<void> {
  const location = await createTestLocation(product, { scopes: testTrafficApiKeyScopes });
  const traffic = await startTestTrafficClients(location, { clients: 4, maxPauseMs: 200, shouldRetry: true });
  groups.push(traffic);
}

async function waitForPushesTo({ process }: Version): Promise<void> {
  await eventually("pushes to this version", async () => {
    const metrics = await (await fetch(`${process.opsUrl}/metrics`)).text();
    return /^http_request_duration_seconds_count\{[^}]*route="\/v2\/tills"[^}]*\} [1-9]/m.test(metrics);
  });
}

/** Starts a version beside the other one, and more clients, which use both versions. */
async function startBeside(version: Version): Promise<void> {
  await version.process.start();
  await balancer.waitUntilUsed(version.target);
  await startClients();
  await sleep(phaseMs);
  for (const each of [previous, current]) await waitForPushesTo(each);
}

/** Stops a version. Then all clients use the other version. */
async function stopVersion({ process }: Version): Promise<void> {
  await process.stop();
  await sleep(phaseMs);
}

/** Stops all clients. Expects that requests failed only with status 503, that these are few, and that nothing is lost. */
async function expectNothingLost(): Promise<void> {
  for (const traffic of groups) await traffic.stop();
  for (const traffic of groups) {
    const { failures, responseCount } = traffic.results;
    expect(failures.filter((failure) => !/: 503 /.test(failure))).toEqual([]);
    expect(failures.length).toBeLessThan(responseCount / 20);
    expect(await traffic.expectNothingLost()).toEqual({ duplicateCount: 0 });
  }
}

describe.skipIf(!lastRelease)(`an upgrade from version ${lastRelease?.version}, under load`, () => {
  it("and a rollback lose nothing", async () => {
    await previous.process.start();
    await balancer.waitUntilUsed(previous.target);
    await startClients();
    await startBeside(current);
    await stopVersion(previous);
    await startBeside(previous);
    await stopVersion(current);
    // The last release reads what both versions have written.
    await expectNothingLost();
    await startClients();
    await startBeside(current);
    await stopVersion(previous);
    await expectNothingLost();
    await expectDatabaseConsistency(environment);
  }, 300_000);
});
