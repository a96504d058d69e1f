import { useDocsPreferredVersion } from "@docusaurus/plugin-content-docs/client";
import type { WrapperProps } from "@docusaurus/types";
import type DocVersionRootType from "@theme/DocVersionRoot";
import DocVersionRoot from "@theme-original/DocVersionRoot";
import { type ReactNode, useEffect } from "react";

/** Saves which version of the documentation the user reads, so that links from other pages lead to this version. */
export default function RememberedDocVersion(props: WrapperProps<typeof DocVersionRootType>): ReactNode {
  const { pluginId, version } = props.version;
  const { savePreferredVersionName } = useDocsPreferredVersion(pluginId);
  // The effect depends only on the version: each save creates a new save function, which would start the effect again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: depending on the function would save in an endless loop
  useEffect(() => savePreferredVersionName(version), [version]);
  return <DocVersionRoot {...props} />;
}
