import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import globals from "globals";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "src/api/schema.d.ts", "e2e/output/"] },
  ...tseslint.configs.strict,
  ...tseslint.configs.stylistic,
  {
    files: ["**/*.{ts,tsx}"],
    plugins: { "react-hooks": reactHooks, "jsx-a11y": jsxA11y },
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      ...jsxA11y.flatConfigs.strict.rules,
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/consistent-type-definitions": "off",
      // Our Field component ties label and control together by id.
      "jsx-a11y/label-has-associated-control": ["error", { assert: "either", depth: 4 }],
    },
  },
  {
    // The table's parts get their roles explicitly, because a changed display
    // (cards on a phone) would otherwise take their meaning away.
    files: ["src/ui/table.tsx"],
    rules: { "jsx-a11y/no-redundant-roles": "off", "jsx-a11y/no-interactive-element-to-noninteractive-role": "off" },
  },
  { files: ["public/*.js"], languageOptions: { globals: { ...globals.browser } } },
);
