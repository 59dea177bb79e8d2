# Programs of a shell that change the tree of `tree.rs`, each below a line that names its subject.
# --- a tree removed
rm -rf sub other hollow
# --- files moved and grown
mv a.txt sub/
echo more >> log
mv -f log b.bin
mv sub other/
# --- everything removed
rm -rf ./* .[a-z]* || true
# --- made and removed again
mkdir -p m/n/o
echo 1 > m/n/o/p
mv m n
rm -rf n
echo x > x && rm x && mkdir x && rmdir x && echo y > x
# --- copied, linked, touched
cp -a sub copy
cp -r copy/. other/
ln -s copy shortcut
ln -f a.txt sub/c.txt
ln -sf b.bin link
touch -d 2001-01-01 a.txt
chmod -R go-rwx sub
cp --attributes-only b.bin fresh
# --- written in place
dd if=/dev/zero of=b.bin bs=1k count=1 conv=notrunc status=none
dd if=/dev/zero of=holes bs=1k seek=100 count=1 conv=notrunc status=none
sed -i s/a/b/ a.txt
truncate -s 0 log
printf x | tee -a run.sh hard1 > /dev/null
install -m 600 a.txt sub/c.txt
# --- an archive
tar cf all.tar sub other
rm -rf sub
tar xf all.tar
gzip -f b.bin
