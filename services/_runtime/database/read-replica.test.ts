import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { removeOldLocationWrites } from "../service/remove-expired-rows.ts";
import { createTestDatabaseSchema } from "../testing/database-schema.ts";
import { eventually } from "../testing/eventually.ts";
import { startTestPostgresReplication, type TestPostgresReplication } from "../testing/postgres-replica.ts";
import { startTcpProxy, type TcpProxy } from "../testing/tcp-proxy.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import type { Database } from "./postgres.ts";
import { recordLocationWrite, updateReplicaHeartbeat } from "./read-replica.ts";

let servers: TestPostgresReplication;
/** Forwards connections to the replica, until the test stops it from forwarding data. */
let network: TcpProxy & { setIsStalled(isStalled: boolean): void };
let environment: IsolatedTestEnvironment;
let db: Database;

beforeAll(async () => {
  servers = await startTestPostgresReplication();
  network = await startNetworkTo(servers.replicaUrl);
  environment = await createIsolatedTestEnvironment({
    DATABASE_URL: servers.primaryUrl,
    DATABASE_READ_URL: network.url,
  });
  db = await createTestDatabaseSchema(environment, ["_runtime"]);
  await db.sql`create table notes (location_id uuid, text text)`;
});
afterAll(async () => {
  await db.close();
  await network.close();
  await environment.remove();
  await servers.stop();
});
beforeEach(async () => {
  await updateReplicaHeartbeat(db.sql);
  await eventually("the replica to serve reads", () => isReadFromReplica(randomUUID()));
});

async function startNetworkTo(url: string): Promise<typeof network> {
  const sockets = new Set<Socket>();
  let isStalled = false;
  const proxy = await startTcpProxy(url, (client, upstream) => {
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      if (isStalled) socket.pause();
    }
  });
  return {
    ...proxy,
    setIsStalled(value) {
      isStalled = value;
      for (const socket of sockets) value ? socket.pause() : socket.resume();
    },
  };
}

const isReadFromReplica = (locationId: string | null) =>
  db.read(locationId, async ({ sql }) => {
    const [row] = await sql<[{ isReplica: boolean }]>`select pg_is_in_recovery() as is_replica`;
    return row.isReplica;
  });

const writeNote = (locationId: string, text: string) =>
  db.transaction(async (tx) => {
    await recordLocationWrite(tx, locationId);
    await tx`insert into notes (location_id, text) values (${locationId}, ${text})`;
  });

const readNotes = (locationId: string) =>
  db.read(locationId, async ({ sql }) => {
    const rows = await sql<{ text: string }[]>`select text from notes where location_id = ${locationId} order by text`;
    return rows.map(({ text }) => text);
  });

it("reads what was just written", async () => {
  const locationId = randomUUID();
  for (let count = 1; count <= 100; count += 1) {
    await writeNote(locationId, `${count}`);
    expect(await readNotes(locationId)).toHaveLength(count);
  }
});

it("reads a location from the primary server until the replica has the location's writes", async () => {
  const [written, other] = [randomUUID(), randomUUID()];
  await writeNote(written, "earlier");
  await eventually("the replica to have the first note", () => isReadFromReplica(written));
  await servers.pauseReplay();
  await writeNote(written, "later");
  expect(await readNotes(written)).toEqual(["earlier", "later"]);
  expect(await isReadFromReplica(written)).toBe(false);
  await eventually("another location to be read from the replica", () => isReadFromReplica(other));
  await servers.resumeReplay();
  await eventually("the replica to have the second note", () => isReadFromReplica(written));
  expect(await readNotes(written)).toEqual(["earlier", "later"]);
});

it("reads from the primary server if the read does not concern one location", async () => {
  expect(await isReadFromReplica(null)).toBe(false);
});

it("reads from the primary server while a location has more recent writes than are compared", async () => {
  const locationId = randomUUID();
  await db.transaction(async (tx) => {
    for (let count = 0; count <= 100; count += 1) await recordLocationWrite(tx, locationId);
  });
  expect(await isReadFromReplica(locationId)).toBe(false);
  await db.sql`update location_writes set written_at = now() - interval '11 minutes' where location_id = ${locationId}`;
  await removeOldLocationWrites(db.sql);
  await eventually("the location to be read from the replica", () => isReadFromReplica(locationId));
});

it("reads from the primary server while the replica lags behind by more than a minute", async () => {
  await db.sql`update replica_heartbeat set beat_at = now() - interval '61 seconds'`;
  await eventually("the replica to have the old heartbeat", async () => !(await isReadFromReplica(randomUUID())));
  await updateReplicaHeartbeat(db.sql);
  await eventually("the replica to have the new heartbeat", () => isReadFromReplica(randomUUID()));
});

it("reads from the primary server while the replica is not available", async () => {
  const locationId = randomUUID();
  await writeNote(locationId, "earlier");
  await servers.killReplica();
  expect(await readNotes(locationId)).toEqual(["earlier"]);
  expect(await isReadFromReplica(locationId)).toBe(false);
  await servers.startReplica();
  await updateReplicaHeartbeat(db.sql);
  await eventually("the replica to serve reads again", () => isReadFromReplica(locationId));
});

it("reads from the primary server while the replica is connected but does not respond", async () => {
  const locationId = randomUUID();
  await writeNote(locationId, "earlier");
  network.setIsStalled(true);
  const started = performance.now();
  expect(await readNotes(locationId)).toEqual(["earlier"]);
  expect(performance.now() - started).toBeLessThan(5_000);
  network.setIsStalled(false);
  await updateReplicaHeartbeat(db.sql);
  await eventually("the replica to serve reads again", () => isReadFromReplica(locationId));
});
