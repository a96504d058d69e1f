import { randomUUID } from "node:crypto";
import { ApiError, type ErrorCode } from "@pragma/contracts/errors";
import { z } from "zod";
import { jsonBody, routesOf } from "../define-route.ts";
import { defineService } from "../define-service.ts";
import { afterCommit, type Database } from "../postgres.ts";
import { json } from "../reply.ts";

/** How far a request has come: its key is reserved, its work is done but not committed, or both are committed. */
export type Step = "reserved" | "worked" | "committed";

const bodySchema = z.object({ name: z.string(), fails: z.boolean().default(false), size: z.int().default(0) });

const definition = {
  method: "post",
  audience: "public",
  tag: "Things",
  scope: "tills:write",
  summary: "",
  description: "",
  request: { body: jsonBody(bodySchema) },
  responses: {},
  errors: [] as ErrorCode[],
} as const;

/** Returns a service with a POST that inserts a row, where `onStep` may hold it up or end the process, and one of two. */
export function thingsService(onStep: (step: Step) => Promise<void> | void) {
  const defineRoute = routesOf<{ db: Database }>();
  return defineService<z.ZodObject, { db: Database }>({
    name: "accounts",
    module: import.meta.url,
    config: z.object({}),
    async open({ db }) {
      await db.sql`create table if not exists things (id uuid primary key, name text not null)`;
      return { services: { db } };
    },
    routes: [
      defineRoute({
        ...definition,
        path: "/v1/things/",
        operationId: "createThing",
        async handle({ body, services: { db } }) {
          await onStep("reserved");
          const id = randomUUID();
          await db.transaction(async (tx) => {
            afterCommit(tx, () => void onStep("committed"));
            await tx`insert into things ${tx({ id, name: body.name })}`;
            await onStep("worked");
          });
          if (body.fails) throw new ApiError("overloaded");
          return json(201, { id, filler: "x".repeat(body.size) }, { location: `/v1/things/${id}` });
        },
      }),
      defineRoute({
        ...definition,
        path: "/v1/pairs/",
        operationId: "createPair",
        isRepeatable: true,
        async handle({ body: { name }, services: { db } }) {
          const insert = () => db.transaction((tx) => tx`insert into things ${tx({ id: randomUUID(), name })}`);
          await Promise.all([insert(), insert()]);
          return json(201, {});
        },
      }),
    ],
  });
}
