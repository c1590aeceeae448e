# Installs a formula as Homebrew does on Linux with an Intel processor. Supports only what our
# formula uses:
#   ruby formula.rb FORMULA PREFIX
require "digest"
require "fileutils"
require "open-uri"

class Formula
  class << self
    attr_reader :told
    %i[desc homepage version license url sha256].each { |name| define_method(name) { |text| (@told ||= {})[name] = text } }
    %i[on_linux on_intel].each { |name| define_method(name) { |&block| block.call } }
    %i[on_macos on_arm test].each { |name| define_method(name) { |&block| } }
  end

  # A folder of the installation, whose files are linked from the same folder of the prefix.
  Folder = Struct.new(:cellar, :prefix) do
    def install(*files)
      pairs = files.flat_map { |file| file.is_a?(Hash) ? file.to_a : [[file, File.basename(file)]] }
      pairs.each do |file, name|
        FileUtils.mkdir_p([cellar, prefix])
        FileUtils.cp(file, "#{cellar}/#{name}")
        FileUtils.ln_sf(File.realpath("#{cellar}/#{name}"), "#{prefix}/#{name}")
      end
    end
  end

  PLACES = {
    bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
    fish_completion: "share/fish/vendor_completions.d", zsh_completion: "share/zsh/site-functions"
  }.freeze
  PLACES.each do |name, place|
    define_method(name) { Folder.new("#{ARGV[1]}/Cellar/graphitid/#{self.class.told[:version]}/#{place}", "#{ARGV[1]}/#{place}") }
  end
end

load ARGV[0]
told = Graphitid.told
archive = URI.parse(told[:url]).open.read
abort "the formula has another checksum" if Digest::SHA256.hexdigest(archive) != told[:sha256]
FileUtils.mkdir_p(ARGV[1])
Dir.chdir(ARGV[1]) do
  File.binwrite("archive", archive)
  system("tar", "xzf", "archive", exception: true)
  Dir.chdir(File.basename(told[:url], ".tar.gz")) { Graphitid.new.install }
end
