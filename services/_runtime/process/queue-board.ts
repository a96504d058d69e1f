import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import type { Queue } from "bullmq";
import { Hono } from "hono";

/** Returns an app that shows queues and their jobs at `path`. Calls `queues` for each request to get current queues. */
export function createQueueDashboard(path: string, queues: () => Queue[]): Hono {
  const serverAdapter = new HonoAdapter(serveStatic);
  serverAdapter.setBasePath(path);
  const board = createBullBoard({ queues: [], serverAdapter });
  const app = new Hono();
  app.use(async (_, next) => {
    board.setQueues(queues().map((queue) => new BullMQAdapter(queue)));
    await next();
  });
  app.route("/", serverAdapter.registerPlugin());
  return app;
}
