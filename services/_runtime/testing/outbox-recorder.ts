import type { BusEventData, BusEventType } from "@pragma/contracts/events";
import type { Database } from "../database/postgres.ts";

/** An event that a service wrote to its outbox. */
interface RecordedEvent<Type extends BusEventType> {
  type: Type;
  data: BusEventData<Type>;
}

/** Copies every new outbox row to the table `recorded_outbox`, because the outbox relay deletes rows after sending. */
export async function installTestOutboxCopyTrigger({ sql }: Database): Promise<void> {
  await sql.unsafe(`
    create table recorded_outbox (like outbox, subject text);
    create index on recorded_outbox (subject);
    create function record_event() returns trigger language plpgsql as
      'begin
        insert into recorded_outbox select new.*, substring(new.body from $$"subject":"([^"]*)"$$);
        return null;
      end';
    create trigger record_event after insert on outbox for each row execute function record_event();`);
}

/** Returns the recorded events about a subject, oldest first. */
export async function readTestOutboxEvents<Type extends BusEventType>(
  { sql }: Database,
  subject: string,
): Promise<RecordedEvent<Type>[]> {
  const rows = await sql<{ type: Type; body: string }[]>`
    select type, body from recorded_outbox where subject = ${subject} order by position`;
  return rows.map(({ type, body }) => ({ type, data: JSON.parse(body).data }));
}
