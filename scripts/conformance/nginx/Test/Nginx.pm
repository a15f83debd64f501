package Test::Nginx;

# Replaces the module of the same name in nginx's tests, so that they run against a running server: TENON_PORT is its
# port, TENON_PREFIX the prefix of every path. Functions for nginx's configuration do nothing.

use warnings;
use strict;

use base qw/ Exporter /;
our @EXPORT = qw/ log_in log_out http http_get http_head port /;
our @EXPORT_OK = qw/ http_start http_end http_content LF CR CRLF /;
our %EXPORT_TAGS = ();

use IO::Socket;
use IO::Select;
use Socket qw/ CRLF LF CR /;
use Test::More qw//;

our $AUTOLOAD;

sub new { return bless {}, shift; }

sub plan {
	my ($self, $count) = @_;
	Test::More::plan(tests => $count);
	return $self;
}

sub AUTOLOAD {
	my ($self) = @_;
	return $AUTOLOAD =~ /::DESTROY$/ ? undef : $self;
}

# New features are not TODOs here.
sub has_version { return 1; }

sub port { return $ENV{TENON_PORT}; }

sub log_in { }
sub log_out { }

sub http_get {
	my ($url, %extra) = @_;
	return http("GET $url HTTP/1.0\nHost: localhost\n\n", %extra);
}

sub http_head {
	my ($url, %extra) = @_;
	return http("HEAD $url HTTP/1.0\nHost: localhost\n\n", %extra);
}

sub http {
	my ($request, %extra) = @_;
	my $s = http_start($request, %extra);
	return $s if $extra{start} or !defined $s;
	return http_end($s);
}

# The tests end their lines with LF alone, which nginx accepts as CRLF. They do not test that.
sub lines {
	my ($request) = @_;
	my ($head, $body) = $request =~ /^(.*?\x0d?\x0a\x0d?\x0a)(.*)$/s ? ($1, $2) : ($request, '');
	$head =~ s/\x0d?\x0a/\x0d\x0a/g;
	$head =~ s/^([A-Z]+ )(?=\/)/$1$ENV{TENON_PREFIX}/
		or $head =~ s/^([A-Z]+ http:\/\/[^\/?# ]*)(\/?)/$1$ENV{TENON_PREFIX}\//;
	$body = lines($body) if $body =~ /^[A-Z]+ \S+ HTTP\//;
	$body =~ s/(\x0d\x0a0\x0d\x0a\x0d\x0a)([A-Z]+ .*)$/$1 . lines($2)/se;
	return $head . $body;
}

sub http_start {
	my ($request, %extra) = @_;
	local $SIG{PIPE} = 'IGNORE';
	my $s = $extra{socket}
		|| IO::Socket::INET->new(Proto => 'tcp', PeerAddr => '127.0.0.1:' . port())
		or die "Can't connect: $!\n";
	$s->print(lines($request));
	select undef, undef, undef, $extra{sleep} if $extra{sleep};
	$s->print(lines($extra{body})) if $extra{body};
	return $s;
}

# Reads until the server closes, or until the original's timeout.
sub http_end {
	my ($s) = @_;
	my $reply = '';
	while (IO::Select->new($s)->can_read(8)) {
		sysread($s, my $buffer, 65536) or last;
		$reply .= $buffer;
	}
	$s->close();
	return capitals($reply);
}

# Field names and the phrase of 405 in nginx's case, which HTTP ignores.
sub capitals {
	my ($reply) = @_;
	$reply =~ s/^(HTTP\/1\.\d 405) Method Not Allowed/$1 Not Allowed/;
	$reply =~ s/^([a-z]+(?:-[a-z]+)*):/join('-', map { $_ eq 'uri' ? 'URI' : ucfirst } split('-', $1)) . ':'/gme;
	return $reply;
}

sub http_content {
	my ($text) = @_;
	return undef unless defined $text and $text =~ /\x0d\x0a\x0d\x0a(.*)/s;
	return $1;
}

1;
