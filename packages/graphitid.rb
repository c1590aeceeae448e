class Graphitid < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "@LICENSE@"

  # @ARCHIVES@
  def install
    bin.install "bin/graphiti", "bin/graphitid"
    man1.install "man/graphiti.1"
    bash_completion.install "completions/graphiti.bash" => "graphiti"
    fish_completion.install "completions/graphiti.fish"
    zsh_completion.install "completions/graphiti.zsh" => "_graphiti"
  end

  def caveats
    <<~EOS
      graphiti setup            # adds it to the settings of your agents
      graphiti service install  # starts the daemon at each login
    EOS
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/graphiti --version")
  end
end
