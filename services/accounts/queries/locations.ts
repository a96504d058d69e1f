import { maxDevicesPerLocation } from "@pragma/contracts/device";
import type { BusEventData } from "@pragma/contracts/events";
import type { Location } from "@pragma/contracts/location";
import type { LocationPosOptions, LocationSettingValues } from "@pragma/contracts/location-settings";
import type { LocationRefWithCurrency } from "@pragma/contracts/principal";
import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ApiEntityRowWithDates } from "../context.ts";

export interface LocationRow extends ApiEntityRowWithDates<Omit<Location, "name">> {
  organizationId: string;
  agencyId: string;
  options: LocationPosOptions;
  settingsId: string;
  settings: LocationSettingValues;
}

export type NewLocation = Omit<LocationRow, "createdAt" | "updatedAt">;

/** The name by which people know a location. The query must select from `locations`. */
export const locationName = (sql: SqlClient | SqlTransaction) =>
  sql`coalesce(locations.settings ->> 'establishmentName', locations.settings ->> 'locationName')`;

export const locationColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, created_at, updated_at, application, legacy_id, organization_id, agency_id, options, settings_id, settings,
  is_sandbox`;

/** Inserts a location and returns it. Returns undefined if another location has its application and legacyId. */
export async function insertLocation(tx: SqlTransaction, location: NewLocation): Promise<LocationRow | undefined> {
  const stored = { ...location, options: tx.json(location.options), settings: tx.json(location.settings) };
  const [row] = await tx<LocationRow[]>`
    insert into locations ${tx(stored)}
    on conflict (application, legacy_id) where legacy_id is not null do nothing
    returning ${locationColumns(tx)}`;
  return row;
}

export async function findLocationRow({ sql }: Database, id: string): Promise<LocationRow | undefined> {
  const [row] = await sql<LocationRow[]>`select ${locationColumns(sql)} from locations where id = ${id}`;
  return row;
}

/** Records the use of a device. An older event does not replace its name. Removes the least recently used devices. */
export async function recordSeenDevice(
  tx: SqlTransaction,
  { locationId, deviceId, name, seenAt }: BusEventData<"device.seen">,
): Promise<void> {
  await tx`
    insert into devices (location_id, id, name, first_seen_at, last_seen_at)
    select id, ${deviceId}, ${name}, ${seenAt}, ${seenAt} from locations where id = ${locationId}
    on conflict (location_id, id) do update set
      name = case
        when excluded.last_seen_at >= devices.last_seen_at then coalesce(excluded.name, devices.name)
        else coalesce(devices.name, excluded.name)
      end,
      first_seen_at = least(excluded.first_seen_at, devices.first_seen_at),
      last_seen_at = greatest(excluded.last_seen_at, devices.last_seen_at)`;
  await tx`
    delete from devices where location_id = ${locationId} and id in (
      select id from devices where location_id = ${locationId} order by last_seen_at desc, id offset ${maxDevicesPerLocation}
    )`;
}

/** Returns the location with this id, or with this legacy id in the legacy backoffice of this application. */
export async function findLocationRef(
  sql: SqlClient | SqlTransaction,
  location: { id: string } | (Pick<Location, "application"> & { legacyId: number }),
): Promise<LocationRefWithCurrency | undefined> {
  const isLocation =
    "id" in location
      ? sql`id = ${location.id}`
      : sql`application = ${location.application} and legacy_id = ${location.legacyId}`;
  const [row] = await sql<LocationRefWithCurrency[]>`
    select id, application, legacy_id, time_zone, options ->> 'currencyCode' as currency_code
    from locations where ${isLocation}`;
  return row;
}
