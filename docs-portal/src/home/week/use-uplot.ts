import { useEffect, useState } from "react";
import type uPlot from "uplot";

/** Loads uPlot when `isNear` becomes true. Returns undefined until it is loaded, and null if it did not load. */
export function useUPlot(isNear: boolean): typeof uPlot | null | undefined {
  const [Plot, setPlot] = useState<typeof uPlot | null>();
  useEffect(() => {
    if (!isNear) return;
    let isRemoved = false;
    const show = (loaded: typeof uPlot | null) => {
      // uPlot is a class, which the setter would call as a function.
      if (!isRemoved) setPlot(() => loaded);
    };
    import("uplot").then(
      (module) => show(module.default),
      () => show(null),
    );
    return () => {
      isRemoved = true;
    };
  }, [isNear]);
  return Plot;
}
