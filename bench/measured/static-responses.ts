/** An upstream for nginx that uses little CPU time: a node:http server that sends one file for each path. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { FILES = "{}", PORT } = process.env;
const bodies = new Map(
  Object.entries(JSON.parse(FILES) as Record<string, string>).map(([path, file]) => [path, readFileSync(file)]),
);

createServer((request, response) => {
  const body = bodies.get(request.url ?? "");
  if (!body) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": "application/json; charset=utf-8", "content-length": body.length });
  response.end(body);
}).listen(Number(PORT), "127.0.0.1");
