{
  description = "Memory for coding agents: sessions become searchable episodes, on your machine";

  # The compiler must be as new as `rust-version` in Cargo.toml.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      project = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      package = system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in pkgs.rustPlatform.buildRustPackage {
          pname = "graphitid";
          version = project.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "graphiti" "--package" "graphitid" "--bins" ];
          # They need namespaces, a home and much time; `.ci/run` runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/graphiti man >graphiti.1
            installManPage graphiti.1
            installShellCompletion --cmd graphiti \
              --bash <($out/bin/graphiti completions bash) \
              --fish <($out/bin/graphiti completions fish) \
              --zsh <($out/bin/graphiti completions zsh)
          '';
          meta = {
            description = project.description;
            license = pkgs.lib.licenses.asl20;
            mainProgram = "graphiti";
          };
        };
    in
    {
      packages = builtins.listToAttrs (map
        (system: { name = system; value.default = package system; })
        systems);
    };
}
