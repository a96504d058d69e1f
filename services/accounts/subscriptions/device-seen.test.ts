import { randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { PrintedTicketHeader } from "@pragma/contracts/location";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestLocationAndGetId } from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

let accounts: AccountsServiceUnderTest;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
});
afterAll(() => accounts.remove());

/** Publishes `device.seen` and waits until the accounts service has handled the event. */
async function publishDeviceSeen(fields: Partial<BusEventData<"device.seen">> & { locationId: string }): Promise<void> {
  const id = randomUUID();
  const data = { deviceId: "d1", name: null, seenAt: "2026-05-29T10:00:00.000Z", ...fields };
  const publication = { id, subject: data.deviceId, data, traceparent: undefined };
  await accounts.db.transaction((tx) => writeEventToOutbox(tx, "device.seen", publication));
  await eventually("the event to be handled", async () => {
    const [handled] = await accounts.db.sql`select 1 from inbox where event_id = ${id}`;
    return handled;
  });
}

async function listDevices(locationId: string, query = "") {
  const path = `/v1/locations/own?devices=true${query}`;
  return (await accounts.getJson(path, PrintedTicketHeader, buildTestLocationPrincipal(locationId, "locations:read")))
    .deviceList;
}

describe("device.seen", () => {
  it("lists devices with their location in the order in which they were first seen", async () => {
    const [id, other] = [await createTestLocationAndGetId(accounts), await createTestLocationAndGetId(accounts)];
    await publishDeviceSeen({ locationId: id, deviceId: "bar", name: "Bar" });
    await publishDeviceSeen({ locationId: id, deviceId: "caisse", seenAt: "2026-05-29T09:00:00.000Z" });
    await publishDeviceSeen({ locationId: other, deviceId: "bar", name: "Other bar" });
    expect(await listDevices(id)).toEqual([
      { id: "caisse", name: null, model: null },
      { id: "bar", name: "Bar", model: null },
    ]);
    expect(await listDevices(other)).toEqual([{ id: "bar", name: "Other bar", model: null }]);
  });

  it("keeps the latest name of a device, whatever the order of the events", async () => {
    const locationId = await createTestLocationAndGetId(accounts);
    const nameAfter = async (name: string | null, seenAt: string) => {
      await publishDeviceSeen({ locationId, name, seenAt });
      return (await listDevices(locationId))?.[0]?.name;
    };
    expect(await nameAfter("Bar", "2026-05-29T10:00:00.000Z")).toBe("Bar");
    expect(await nameAfter("Terrasse", "2026-05-29T12:00:00.000Z")).toBe("Terrasse");
    expect(await nameAfter("Salle", "2026-05-29T11:00:00.000Z")).toBe("Terrasse");
    expect(await nameAfter(null, "2026-05-29T13:00:00.000Z")).toBe("Terrasse");
  });

  it("keeps the 200 most recently seen devices, which can be paged", async () => {
    const [id, other] = [await createTestLocationAndGetId(accounts), await createTestLocationAndGetId(accounts)];
    await publishDeviceSeen({ locationId: other, deviceId: "bar" });
    await accounts.db.sql`
      insert into devices (location_id, id, first_seen_at, last_seen_at)
      select ${id}, 'd' || number, time, time from (
        select number, timestamptz '2026-05-01' + number * interval '1 minute' as time from generate_series(1, 2000) as number
      ) as devices_to_insert`;
    await publishDeviceSeen({ locationId: id, deviceId: "newest" });
    const all = (await listDevices(id))?.map((device) => device.id);
    expect(all).toEqual([...Array.from({ length: 199 }, (_, index) => `d${1802 + index}`), "newest"]);
    expect(await accounts.db.sql`select 1 from devices where location_id = ${id}`).toHaveLength(200);
    const page = async (query: string) => (await listDevices(id, query))?.map((device) => device.id);
    expect(await page("&size=150")).toEqual(all?.slice(0, 150));
    expect(await page("&size=150&index=1")).toEqual(all?.slice(150));
    expect(await page("&size=150&index=2")).toEqual([]);
    expect(await listDevices(other)).toHaveLength(1);
  });

  it("ignores a device of an unknown location", async () => {
    const locationId = randomUUID();
    await publishDeviceSeen({ locationId });
    expect(await accounts.db.sql`select id from devices where location_id = ${locationId}`).toEqual([]);
  });
});
