import ThemedImage from "@theme/ThemedImage";
import type { ReactNode } from "react";
import sizes from "../../diagrams/sizes.json";
import styles from "./diagram.module.css";

interface DiagramProps {
  /** The name of the source file, `diagrams/<name>.mmd`. */
  name: keyof typeof sizes;
  /** A description of the diagram for screen readers. */
  alt: string;
}

/** A diagram that `npm run diagrams` drew, in the color mode of the page. Its size is set to avoid layout shifts. */
export function Diagram({ name, alt }: DiagramProps): ReactNode {
  const { width, height } = sizes[name];
  const drawingPath = (mode: "light" | "dark") => `/diagrams/${name}.${mode}.svg`;
  return (
    <figure className={styles.diagram}>
      <ThemedImage
        alt={alt}
        width={width}
        height={height}
        loading="lazy"
        sources={{ light: drawingPath("light"), dark: drawingPath("dark") }}
      />
    </figure>
  );
}
