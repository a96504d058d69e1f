import type { ComponentProps, ReactNode } from "react";
import { RequestCodeSamples } from "./RequestCodeSamples.tsx";
import { ResponseCodeBlock } from "./ResponseCodeBlock.tsx";

/** Renders the request of an example and its response in one card, as `example-layout.mjs` arranges them in guides. */
export function Exchange(props: ComponentProps<typeof ResponseCodeBlock>): ReactNode {
  return (
    <div className="exchange">
      <RequestCodeSamples of={props.of} />
      <ResponseCodeBlock {...props} />
    </div>
  );
}
