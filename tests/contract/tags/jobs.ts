import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TagContract } from "../contract.ts";
import type { World } from "../world.ts";

/** How many unfinished jobs a key of the tested product may have. */
const mostUnfinished = 20;
/** How many repeating jobs a location of the tested product may have. */
const maxRepeating = 2;
/** How many bytes of messages a location of the tested product may send in a day; the largest message has more. */
const maxJobBytes = 290_000;

/** What the tested product is told of these limits. */
export const jobLimits = {
  JOBS_UNFINISHED_PER_KEY: String(mostUnfinished),
  JOBS_REPEATING_PER_LOCATION: String(maxRepeating),
  JOBS_BYTES_PER_DAY: String(maxJobBytes),
};

const repeating = { message: "Again", jobOptions: { repeat: { every: 3_600_000 } } };
const delayed = { message: "Later", jobOptions: { delay: 3_600_000 } };

/** A job that has come to its end. */
async function finishedJob({ shop }: World): Promise<string> {
  const answer = await shop.ask("POST", "/v1/jobs", { body: { message: "Close the day" } });
  const { id } = (await answer.json()) as { id: string };
  await eventually("the job", async () => {
    const job = (await (await shop.ask("GET", `/v1/jobs/${id}`)).json()) as { finishedAt: string | null };
    return job.finishedAt !== null;
  });
  return id;
}

export const jobs: TagContract = {
  createJob: {
    answers: {
      201: () => ({ body: { message: "Close the day" } }),
      200: async (world) => ({ body: { message: "Again", jobOptions: { jobId: await finishedJob(world) } } }),
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: { message: "Nowhere" },
        key: product.adminKey,
      }),
      204: async ({ shop }) => {
        const ask = { body: { message: "x".repeat(70_000) }, headers: { "idempotency-key": randomUUID() } };
        await shop.ask("POST", "/v1/jobs", ask);
        return ask;
      },
      limit_reached: async ({ shop }) => {
        for (let index = 0; index < maxRepeating; index += 1) await shop.ask("POST", "/v1/jobs", { body: repeating });
        return { body: repeating };
      },
      quota_exceeded: () => ({ body: { message: "€".repeat(100_000) } }),
      too_many_jobs: async ({ shop, keyWith }) => {
        const key = await keyWith(["jobs:write"]);
        for (let index = 0; index < mostUnfinished; index += 1) {
          await shop.ask("POST", "/v1/jobs", { body: delayed, key });
        }
        return { body: delayed, key };
      },
    },
    // The id is another location's; in its own there is no such job.
    stranger: 201,
  },
  getJob: {
    answers: {
      200: async (world) => ({ path: { id: await finishedJob(world) } }),
      job_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
};
