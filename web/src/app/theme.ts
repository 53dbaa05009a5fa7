import { useEffect, useState } from "react";

export type Theme = "light" | "dark" | "system";
const key = "checkstack.theme";

export function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(key);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system";
  }
}

function apply(theme: Theme) {
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    apply(theme);
    const media = matchMedia("(prefers-color-scheme: dark)");
    const onChange = () => apply(theme);
    media.addEventListener("change", onChange);
    return () => media.removeEventListener("change", onChange);
  }, [theme]);
  return [
    theme,
    (next) => {
      try {
        localStorage.setItem(key, next);
      } catch {
        // Storage may be blocked: the choice then holds for this page only.
      }
      setTheme(next);
    },
  ];
}
