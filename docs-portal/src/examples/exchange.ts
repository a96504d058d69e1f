/** A request and its reply, as an example holds them. What is no request of its own has only the reply. */
export interface Exchange {
  request?: { method: string; path: string; headers: Record<string, string | undefined>; body?: unknown };
  reply: { status: number; headers: Record<string, string | undefined>; body: unknown };
}
