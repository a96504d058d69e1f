import { randomUUID } from "node:crypto";
import type { EventData } from "@pragma/contracts/events";
import { LocationHeader } from "@pragma/contracts/location";
import { publish } from "@pragma/runtime/outbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocation } from "../testing/locations.ts";
import { keyOf, startAccounts, type TestAccounts } from "../testing/start-accounts.ts";

let accounts: TestAccounts;
beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts.remove());

/** Tells accounts of a device, as other services do; returns once it has heard. */
async function see(seen: Partial<EventData<"device.seen">> & { locationId: string }): Promise<void> {
  const id = randomUUID();
  const data = { deviceId: "d1", name: null, seenAt: "2026-05-29T10:00:00.000Z", ...seen };
  await accounts.db.transaction((tx) => publish(tx, "device.seen", { id, subject: data.deviceId, data }));
  await eventually("the event to be handled", async () => {
    const [handled] = await accounts.db.sql`select 1 from inbox where event_id = ${id}`;
    return handled;
  });
}

async function devicesOf(locationId: string) {
  const path = "/v1/locations/own?devices=true";
  return (await accounts.get(path, LocationHeader, keyOf(locationId, "locations:read"))).deviceList;
}

describe("a device that was seen", () => {
  it("is shown with its location, in the order in which devices were first seen", async () => {
    const [id, other] = [await createLocation(accounts), await createLocation(accounts)];
    await see({ locationId: id, deviceId: "bar", name: "Bar" });
    await see({ locationId: id, deviceId: "caisse", seenAt: "2026-05-29T09:00:00.000Z" });
    await see({ locationId: other, deviceId: "bar", name: "Other bar" });
    expect(await devicesOf(id)).toEqual([
      { id: "caisse", name: null, model: null },
      { id: "bar", name: "Bar", model: null },
    ]);
    expect(await devicesOf(other)).toEqual([{ id: "bar", name: "Other bar", model: null }]);
  });

  it("goes by its latest name, in whatever order one hears of it", async () => {
    const locationId = await createLocation(accounts);
    const nameAfter = async (name: string | null, seenAt: string) => {
      await see({ locationId, name, seenAt });
      return (await devicesOf(locationId))?.[0]?.name;
    };
    expect(await nameAfter("Bar", "2026-05-29T10:00:00.000Z")).toBe("Bar");
    expect(await nameAfter("Terrasse", "2026-05-29T12:00:00.000Z")).toBe("Terrasse");
    expect(await nameAfter("Salle", "2026-05-29T11:00:00.000Z")).toBe("Terrasse");
    expect(await nameAfter(null, "2026-05-29T13:00:00.000Z")).toBe("Terrasse");
  });

  it("at a location that is not there is left alone", async () => {
    const locationId = randomUUID();
    await see({ locationId });
    expect(await accounts.db.sql`select id from devices where location_id = ${locationId}`).toEqual([]);
  });
});
