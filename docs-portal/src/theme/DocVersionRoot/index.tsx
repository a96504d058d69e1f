import { useDocsPreferredVersion } from "@docusaurus/plugin-content-docs/client";
import type { WrapperProps } from "@docusaurus/types";
import type DocVersionRootType from "@theme/DocVersionRoot";
import DocVersionRoot from "@theme-original/DocVersionRoot";
import { type ReactNode, useEffect } from "react";

/** Stores the version of the documentation that the user reads, so that links from other pages open this version. */
export default function RememberedDocVersion(props: WrapperProps<typeof DocVersionRootType>): ReactNode {
  const { pluginId, version } = props.version;
  const { savePreferredVersionName } = useDocsPreferredVersion(pluginId);
  // The effect must not depend on the save function: each save creates a new function, which would repeat the effect.
  // biome-ignore lint/correctness/useExhaustiveDependencies: depending on the function would save in an endless loop
  useEffect(() => savePreferredVersionName(version), [version]);
  return <DocVersionRoot {...props} />;
}
