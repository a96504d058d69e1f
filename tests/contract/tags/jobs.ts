import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { ContractFixture } from "../contract-fixture.ts";
import type { TagContract } from "../operation-contract.ts";

/** How many unfinished jobs a key of the tested product may have. */
const maxUnfinishedJobs = 20;
/** How many repeating jobs a location of the tested product may have. */
const maxRepeatingJobs = 2;
/** How many bytes of messages a location of the tested product may send in a day; the largest message has more. */
const maxJobBytesPerDay = 290_000;

/** What the tested product is told of these limits. */
export const jobLimitVariables = {
  JOBS_UNFINISHED_PER_KEY: String(maxUnfinishedJobs),
  JOBS_REPEATING_PER_LOCATION: String(maxRepeatingJobs),
  JOBS_BYTES_PER_DAY: String(maxJobBytesPerDay),
};

const repeatingJob = { message: "Again", jobOptions: { repeat: { every: 3_600_000 } } };
const delayedJob = { message: "Later", jobOptions: { delay: 3_600_000 } };

/** A job that has come to its end. */
async function createFinishedJob({ shop }: ContractFixture): Promise<string> {
  const answer = await shop.request("POST", "/v1/jobs", { body: { message: "Close the day" } });
  const { id } = (await answer.json()) as { id: string };
  await eventually("the job", async () => {
    const job = (await (await shop.request("GET", `/v1/jobs/${id}`)).json()) as { finishedAt: string | null };
    return job.finishedAt !== null;
  });
  return id;
}

export const jobsContract: TagContract = {
  createJob: {
    requestsByOutcome: {
      201: () => ({ body: { message: "Close the day" } }),
      200: async (world) => ({ body: { message: "Again", jobOptions: { jobId: await createFinishedJob(world) } } }),
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: { message: "Nowhere" },
        key: product.adminKey,
      }),
      204: async ({ shop }) => {
        const ask = { body: { message: "x".repeat(70_000) }, headers: { "idempotency-key": randomUUID() } };
        await shop.request("POST", "/v1/jobs", ask);
        return ask;
      },
      limit_reached: async ({ shop }) => {
        for (let index = 0; index < maxRepeatingJobs; index += 1)
          await shop.request("POST", "/v1/jobs", { body: repeatingJob });
        return { body: repeatingJob };
      },
      quota_exceeded: () => ({ body: { message: "€".repeat(100_000) } }),
      too_many_jobs: async ({ shop, keyWith }) => {
        const key = await keyWith(["jobs:write"]);
        for (let index = 0; index < maxUnfinishedJobs; index += 1) {
          await shop.request("POST", "/v1/jobs", { body: delayedJob, key });
        }
        return { body: delayedJob, key };
      },
    },
    // The id is another location's; in its own there is no such job.
    statusForOtherLocation: 201,
  },
  getJob: {
    requestsByOutcome: {
      200: async (world) => ({ path: { id: await createFinishedJob(world) } }),
      job_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
};
