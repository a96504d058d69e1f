import { randomUUID } from "node:crypto";
import { ApiError, type ApiErrorCode } from "@pragma/contracts/errors";
import { z } from "zod";
import { type Database, runAfterCommit } from "../database/postgres.ts";
import { createRouteDefiner, createValidatingJsonBodyParser } from "../http/define-route.ts";
import { jsonResponse } from "../http/route-response.ts";
import { defineService } from "../service/define-service.ts";

/** A step of a request: the key is reserved, the row is inserted but not committed, or the transaction is committed. */
export type TestIdempotentRequestStage = "reserved" | "worked" | "committed";

const bodySchema = z.object({ name: z.string(), fails: z.boolean().default(false), size: z.int().default(0) });

const definition = {
  method: "post",
  audience: "public",
  tag: "Things",
  scope: "tills:write",
  summary: "",
  description: "",
  request: { body: createValidatingJsonBodyParser(bodySchema) },
  responses: {},
  errors: [] as ApiErrorCode[],
} as const;

/**
 * Returns a service with two POST routes. The first route inserts one row, and the second inserts two rows. `onStep` is
 * called at each step of the first route. It can crash the process, and can delay the steps before the commit.
 */
export function createIdempotencyTestService(onStep: (step: TestIdempotentRequestStage) => Promise<void> | void) {
  const defineRoute = createRouteDefiner<{ db: Database }>();
  return defineService<z.ZodObject, { db: Database }>({
    name: "accounts",
    module: import.meta.url,
    config: z.object({}),
    async createResources({ db }) {
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
            runAfterCommit(tx, () => void onStep("committed"));
            await tx`insert into things ${tx({ id, name: body.name })}`;
            await onStep("worked");
          });
          if (body.fails) throw new ApiError("overloaded");
          return jsonResponse(201, { id, filler: "x".repeat(body.size) }, { location: `/v1/things/${id}` });
        },
      }),
      defineRoute({
        ...definition,
        path: "/v1/pairs/",
        operationId: "createPair",
        isIdempotent: true,
        async handle({ body: { name }, services: { db } }) {
          const insert = () => db.transaction((tx) => tx`insert into things ${tx({ id: randomUUID(), name })}`);
          await Promise.all([insert(), insert()]);
          return jsonResponse(201, {});
        },
      }),
    ],
  });
}
