import { randomUUID } from "node:crypto";
import { Job, type JobOptions, JobStatus } from "@pragma/contracts/job";
import type { Principal } from "@pragma/contracts/principal";
import { type Problem, problemSchema } from "@pragma/contracts/problem";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService, testPrincipal } from "@pragma/runtime/testing/test-service";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect } from "vitest";
import { defineJobsService } from "../define-jobs-service.ts";
import { type Perform, waitOut } from "../running/wait-out.ts";

/** A location with a key of its own, and its queue as BullMQ sees it. */
export interface TestShop {
  principal: Principal;
  queue: Queue;
  /** Creates a job that has to be new. */
  create(body: NewJobBody): Promise<Job>;
  ask(body: NewJobBody): Promise<Response>;
  refusal(body: NewJobBody): Promise<Problem>;
  status(id: string): Promise<JobStatus>;
  /** The job, once it is in this state. */
  inState(id: string, state: JobStatus["state"]): Promise<JobStatus>;
  isForgotten(id: string): Promise<boolean>;
}

interface NewJobBody {
  message: string;
  duration?: number;
  jobOptions?: JobOptions;
}

export interface TestJobs extends TestService {
  /** The messages of jobs in the order in which they were begun, each time that they were. */
  begun: string[];
  redis: Redis;
  prefix: string;
  openShop(): TestShop;
  /** Starts another process of the service beside. */
  startAnother(): Promise<TestService>;
  /** What Redis knows of the queues is gone. */
  emptyRedis(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * The jobs service for one test file, one job of a location at a time. A job fails whose message begins with `fail`,
 * and one that begins with `fail once` the first time.
 */
export async function startJobs(variables: Record<string, string> = {}): Promise<TestJobs> {
  const environment = await createTestEnvironment({
    JOBS_CONCURRENCY: "1",
    JOBS_SHORTEST_REPEAT: "100",
    ...variables,
  });
  const begun: string[] = [];
  const perform: Perform = async (payload, turn) => {
    begun.push(payload.message);
    const { message } = payload;
    const tries = begun.filter((each) => each === message).length;
    if (message.startsWith("fail") && (tries === 1 || !message.startsWith("fail once"))) throw new Error(message);
    return waitOut(payload, turn);
  };
  const definition = defineJobsService({ perform });
  const service = await startTestService(definition, environment);
  const redis = new Redis(environment.variables.REDIS_URL ?? "");
  redis.on("error", () => {});
  const prefix = environment.namespace;
  const queues: Queue[] = [];

  function openShop(): TestShop {
    const principal = testPrincipal({ scopes: ["jobs:write"] });
    const queue = new Queue(`jobs-${principal.location?.id}`, { connection: redis, prefix });
    queue.on("error", () => {});
    queues.push(queue);
    const ask = (body: NewJobBody) => service.ask("POST", "/v1/jobs/", { principal, body });
    const status = async (id: string) => {
      const response = await service.ask("GET", `/v1/jobs/${encodeURIComponent(id)}`, { principal });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return JobStatus.parse(JSON.parse(text));
    };
    return {
      principal,
      queue,
      ask,
      status,
      async create(body) {
        const response = await ask(body);
        const text = await response.text();
        expect(response.status, text).toBe(201);
        return Job.parse(JSON.parse(text));
      },
      async refusal(body) {
        const response = await ask(body);
        const problem = problemSchema.parse(await response.json());
        expect(problem.status).toBe(response.status);
        return problem;
      },
      inState: (id, state) =>
        eventually(`${id} to be ${state}`, async () => {
          const job = await status(id);
          return job.state === state && job;
        }),
      async isForgotten(id) {
        const response = await service.ask("GET", `/v1/jobs/${encodeURIComponent(id)}`, { principal });
        return response.status === 404;
      },
    };
  }

  async function emptyRedis(): Promise<void> {
    const keys = await redis.keys(`${prefix}:*`);
    if (keys.length > 0) await redis.unlink(...keys);
  }

  return {
    ...service,
    begun,
    redis,
    prefix,
    openShop,
    startAnother: () => startTestService(definition, environment),
    emptyRedis,
    async remove() {
      await service.stop();
      await Promise.all(queues.map((queue) => queue.close()));
      await emptyRedis();
      redis.disconnect();
      await environment.remove();
    },
  };
}

/** A message that no other job has. */
export const unlike = (message: string) => `${message} ${randomUUID()}`;
