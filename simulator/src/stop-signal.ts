/** A signal that is given on Ctrl-C, and when the process is told to end. A second Ctrl-C ends it at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort(new Error("Stopped"));
    });
  }
  return stop.signal;
}
