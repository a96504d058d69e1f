/** A request and its response (`reply`) in an example file. An example can omit the request. */
export interface Exchange {
  request?: { method: string; path: string; headers: Record<string, string | undefined>; body?: unknown };
  reply: { status: number; headers: Record<string, string | undefined>; body: unknown };
}
