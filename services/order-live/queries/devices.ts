import { maxDevices, type SeenDevice } from "@pragma/contracts/device";
import { recordset, type Transaction } from "@pragma/runtime/postgres";

/**
 * Notes devices as told, and gives those that accounts must be told of: not told within the hour, or by another name.
 * A device without a name keeps the one that it had. Of a location's devices those that were told last are kept.
 */
export async function takeUntold(tx: Transaction, locationId: string, devices: SeenDevice[]): Promise<SeenDevice[]> {
  const untold = await tx<SeenDevice[]>`
    insert into devices (location_id, id, name, told_at)
    select ${locationId}, device_id, name, now()
    from jsonb_to_recordset(${recordset(tx, devices)}) as given (device_id text, name text)
    on conflict (location_id, id) do update
      set name = coalesce(excluded.name, devices.name), told_at = excluded.told_at
      where devices.told_at < now() - interval '1 hour' or excluded.name is distinct from devices.name
        and excluded.name is not null
    returning id as device_id, name`;
  if (untold.length > 0) {
    await tx`
      delete from devices where location_id = ${locationId} and id in (
        select id from devices where location_id = ${locationId} order by told_at desc, id offset ${maxDevices}
      )`;
  }
  return untold;
}
