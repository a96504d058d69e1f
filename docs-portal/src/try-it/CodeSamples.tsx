import CodeBlock from "@theme/CodeBlock";
import TabItem from "@theme/TabItem";
import Tabs from "@theme/Tabs";
import type { ReactNode } from "react";
import type { SampleOf } from "./samples/sample.ts";
import { sampleLanguages } from "./samples/samples.ts";

/** A request in every language; the one that a reader chooses stays chosen everywhere. */
export function CodeSamples(sample: SampleOf): ReactNode {
  return (
    <Tabs groupId="language">
      {sampleLanguages.map(({ id, label, highlight, write }) => (
        <TabItem key={id} value={id} label={label}>
          <CodeBlock language={highlight}>{write(sample)}</CodeBlock>
        </TabItem>
      ))}
    </Tabs>
  );
}
