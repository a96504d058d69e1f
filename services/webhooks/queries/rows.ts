import type { Sql, Transaction } from "@pragma/runtime/postgres";
import type { Reply } from "@pragma/runtime/reply";
import { replyWithPage } from "@pragma/runtime/reply-with-page";

/** What a reply shows, with dates in place of their text. */
export type Dated<Shown, Name extends keyof Shown> = Omit<Shown, Name> & {
  [Each in Name]: null extends Shown[Each] ? Date | null : Date;
};

/** A thing by its id, if it is of this location; of any when that is null. */
export interface Which {
  id: string;
  locationId: string | null;
}

export const isOfLocation = (sql: Sql | Transaction, { locationId }: Pick<Which, "locationId">) =>
  locationId === null ? sql`true` : sql`location_id = ${locationId}`;

/** A part of a query. */
export type Fragment = ReturnType<typeof isOfLocation>;

/** Answers the page that was asked for of the rows of a table, newest first. */
export function replyWithNewest<Row extends { id: string; createdAt: Date }>(
  asked: Parameters<typeof replyWithPage>[0],
  sql: Sql,
  { columns, table, where }: { columns: Fragment; table: Fragment; where: Fragment },
): Promise<Reply> {
  return replyWithPage(asked, async ({ after, offset, limit }) => {
    const isAfter = after ? sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
    const [rows, [counted]] = await Promise.all([
      sql<Row[]>`
        select ${columns} from ${table} where ${where} and ${isAfter}
        order by created_at desc, id desc offset ${offset} limit ${limit}`,
      sql<[{ total: number }]>`select count(*) as total from ${table} where ${where}`,
    ]);
    return { rows, total: counted.total };
  });
}
