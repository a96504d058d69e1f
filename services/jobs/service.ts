import { defineJobsService } from "./define-jobs-service.ts";
import { waitOut } from "./running/wait-out.ts";

/** Offers queues of jobs to whoever may use them, and does the jobs. */
export default defineJobsService({ perform: waitOut });
